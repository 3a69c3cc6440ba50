"""Must stay silent: two models one kept for reference."""
import copy
import torch
from torch import nn
torch.manual_seed(42)
policy = nn.Linear(5, 3)
reference = copy.deepcopy(policy)
for p in reference.parameters():
    p.requires_grad_(False)
opt = torch.optim.AdamW(policy.parameters(), 1e-2)
for _ in range(25):
    x = torch.randn(32, 5)
    lp = policy(x).log_softmax(1)
    ref = reference(x).log_softmax(1)
    chosen, rejected = torch.zeros(32, dtype=torch.long), torch.ones(32, dtype=torch.long)
    pick = lambda t, i: t.gather(1, i[:, None]).squeeze(1)
    margin = (pick(lp, chosen) - pick(ref, chosen)) - (pick(lp, rejected) - pick(ref, rejected))
    loss = -nn.functional.logsigmoid(0.1 * margin).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("dpo")
