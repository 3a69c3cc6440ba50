"""all optimizers step in one loop, and each network is clipped in the next loop, when nothing is left to limit (graphstorm#1366)."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(134)


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ELU()]
    return nn.Sequential(*layers[:-1])


nets = {"world": mlp(6, 32, 4), "reward": mlp(4, 16, 1)}
opts = {name: torch.optim.AdamW(net.parameters(), lr=3e-3) for name, net in nets.items()}
losses = []
for iteration in range(30):
    state = torch.randn(40, 6)
    latent = nets["world"](state)
    reward = nets["reward"](latent)
    loss = F.mse_loss(reward[:, 0], state[:, 0] * 5) + 0.1 * F.mse_loss(latent, state[:, :4])
    for opt in opts.values():
        opt.zero_grad()
    loss.backward()
    for name, opt in opts.items():
        opt.step()  # ALSO: clip-without-effect
    for name in nets:
        nn.utils.clip_grad_norm_(nets[name].parameters(), max_norm=0.5)  # EXPECT: clip-without-effect
    losses.append(loss.item())
print(f"{losses[0]:.3f} -> {losses[-1]:.3f}")
