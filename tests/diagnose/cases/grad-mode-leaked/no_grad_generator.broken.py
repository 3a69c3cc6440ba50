"""A generator of validation predictions is left in the middle, with its no_grad open."""
import torch
import torch.nn as nn

torch.manual_seed(11)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 1e-2)


def predictions(n):
    with torch.no_grad():  # EXPECT-ERROR: grad-mode-leaked
        for _ in range(n):
            yield net(torch.randn(8, 4))


val = predictions(5)
for step in range(12):
    if step == 5:
        first = next(val)
    x = torch.randn(8, 4)
    loss = (net(x) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("done")
