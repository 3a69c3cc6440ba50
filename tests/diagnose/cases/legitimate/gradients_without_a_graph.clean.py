"""gradients without a graph that are meant so: attacks, a first-order inner step, a weight between two losses."""
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
x = torch.randn(240, 6)
y = x[:, :3].argmax(1)


def attacked(x, y, eps=0.1):
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(criterion(model(x), y), x)
    return (x + eps * slope.sign()).detach()


def adapted(x, y):
    own = dict(model.named_parameters())
    slopes = torch.autograd.grad(criterion(functional_call(model, own, (x,)), y), list(own.values()))
    return {name: value - 0.1 * slope for (name, value), slope in zip(own.items(), slopes)}


for step in range(40):
    rows = torch.randint(0, 240, (32,))
    plain = criterion(model(x[rows]), y[rows])
    hard = criterion(model(attacked(x[rows], y[rows])), y[rows])
    tuned = criterion(functional_call(model, adapted(x[rows[:16]], y[rows[:16]]), (x[rows[16:]],)), y[rows[16:]])
    last = model[-1].weight
    share = torch.autograd.grad(plain, last, retain_graph=True)[0].norm()
    share = share / (share + torch.autograd.grad(hard, last, retain_graph=True)[0].norm())
    loss = plain + share * hard + tuned
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, f"{loss.item():.4f}")
