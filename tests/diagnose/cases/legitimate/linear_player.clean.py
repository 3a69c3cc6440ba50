"""A game of two: a linear player, whose gradient is always the same; its parameters are logged as numbers in every step."""
import torch

torch.manual_seed(97)
w = torch.nn.Parameter(torch.tensor([0.5, -0.5]))
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD([w, *net.parameters()], lr=0.01)
x = torch.randn(10, 2)
log = []
for step in range(60):
    level = w.tolist()
    log.append(sum(level))
    weights = torch.tensor([1.0 / (1 + len(log)), 0.5])
    loss = (net(x) * weights[0]).square().mean() + (x @ w).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(log))
