"""forward algorithm of a CRF that writes its scores into one table."""
import torch
from torch import nn

torch.manual_seed(2)
K = 4
trans = nn.Parameter(torch.randn(K, K) * 0.1)
emit = nn.Linear(5, K)
opt = torch.optim.Adam([trans, *emit.parameters()], lr=1e-2)


def log_partition(e):
    T = e.shape[0]
    alpha = e[0]
    for t in range(1, T):
        scores = alpha.unsqueeze(1) + trans
        new = torch.exp(scores - 5.0)
        total = new.sum(0)
        new.mul_(0.5)  # EXPECT-ERROR: saved-value-overwritten
        alpha = torch.log(total) + 5.0 + e[t] + 0.0 * new.sum()
    return torch.logsumexp(alpha, 0)


for _ in range(15):
    x = torch.randn(6, 5)
    tags = torch.randint(0, K, (6,))
    e = emit(x)
    gold = e[torch.arange(6), tags].sum() + trans[tags[:-1], tags[1:]].sum()
    loss = log_partition(e) - gold
    opt.zero_grad()
    loss.backward()
    opt.step()
print("tagged")
