"""The reward model and the policy are both evaluated in inference_mode."""
import torch
from torch import nn

torch.manual_seed(139)
policy = nn.Linear(5, 3)
reward_model = nn.Linear(8, 1).requires_grad_(False)
opt = torch.optim.SGD(policy.parameters(), lr=0.05)


def rollout(n=32):
    s = torch.randn(n, 5)
    with torch.inference_mode():  # EXPECT-ERROR: recording-off
        logp = policy(s).log_softmax(-1)  # ALSO: recording-off
        a = torch.distributions.Categorical(logits=logp).sample()
        r = reward_model(torch.cat([s, nn.functional.one_hot(a, 3).float()], 1)).squeeze(1)
    return logp.gather(1, a.unsqueeze(1)).squeeze(1), r


for it in range(50):
    logp, r = rollout()
    advantage = r - r.mean()
    loss = -(logp * advantage).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("reward", round(r.mean().item(), 4))
