"""the total is a leaf that requires a gradient and is filled under no_grad, to get rid of the in-place error."""
import torch
from torch import nn

torch.manual_seed(52)

series = torch.stack([torch.sin(torch.arange(30) * w) for w in (0.2, 0.3, 0.5, 0.7)])
cell = nn.LSTMCell(1, 10)
read = nn.Linear(10, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *read.parameters()], lr=1e-2)


def rollout(series):
    h = c = torch.zeros(len(series), 10)
    total = torch.zeros((), requires_grad=True)  # EXPECT: loss-is-leaf
    for t in range(12):
        h, c = cell(series[:, t:t + 1], (h, c))
        error = read(h) - series[:, t + 1:t + 2]
        with torch.no_grad():
            total += error.pow(2).mean()  # ALSO: loss-is-leaf
    return total


for it in range(30):
    loss = rollout(series)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # MAY: step-without-gradient
    if it % 10 == 9:
        print(it, "total", loss.item())
