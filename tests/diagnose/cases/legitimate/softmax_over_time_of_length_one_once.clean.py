"""Must stay silent: softmax over time of length one once."""
import torch
from torch import nn
torch.manual_seed(56)
att, rnn, out = nn.Linear(16, 1), nn.GRUCell(4, 16), nn.Linear(16, 4)
opt = torch.optim.Adam([*att.parameters(), *rnn.parameters(), *out.parameters()], 5e-3)
for _ in range(20):
    x = torch.randn(8, 6, 4)
    h, mem, loss = torch.zeros(8, 16), [], 0.0
    for t in range(5):
        h = rnn(x[:, t], h)
        mem.append(h)
        m = torch.stack(mem, 1)
        w = att(m).softmax(1)
        loss = loss + (out((w * m).sum(1)) - x[:, t + 1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("decoder")
