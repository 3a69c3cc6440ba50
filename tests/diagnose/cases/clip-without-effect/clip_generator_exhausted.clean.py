"""the parameters are taken once as a generator: the second clipping of it gets nothing."""
import torch
from torch import nn

torch.manual_seed(4)
lstm = nn.LSTM(5, 12, batch_first=True)
head = nn.Linear(12, 1)
params = [p for m in (lstm, head) for p in m.parameters()]
opt = torch.optim.SGD([*lstm.parameters(), *head.parameters()], lr=0.05)
for step in range(25):
    x = torch.randn(16, 9, 5)
    target = x.sum((1, 2))
    out, _ = lstm(x)
    loss = (head(out[:, -1]).squeeze(-1) - target).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
print(loss.item() < 100)
