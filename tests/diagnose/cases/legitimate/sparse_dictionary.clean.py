"""A sparse autoencoder with an L1 penalty; the decoder's columns are normalised after every step, dead features are reset."""
import torch
import torch.nn as nn

torch.manual_seed(21)
enc, dec = nn.Linear(12, 32), nn.Linear(32, 12, bias=False)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], 3e-3)
fired = torch.zeros(32)
truth = nn.functional.normalize(torch.randn(20, 12), dim=1)
for step in range(240):
    code = (torch.rand(64, 20) < 0.1).float() * torch.rand(64, 20)
    x = code @ truth
    z = torch.relu(enc(x))
    loss = (dec(z) - x).pow(2).mean() + 3e-3 * z.abs().sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        dec.weight.div_(dec.weight.norm(dim=0, keepdim=True).clamp(min=1e-6))
        fired += (z > 0).float().sum(0)
        if step % 80 == 79:
            dead = fired == 0
            enc.weight[dead] = torch.randn(int(dead.sum()), 12) * 0.2
            enc.bias[dead] = 0.0
            fired.zero_()
print(round(loss.item(), 4))
