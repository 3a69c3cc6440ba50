"""Modes entered and left in every legitimate way: a class, a statement with finally, a generator that is exhausted."""
import torch, contextlib
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)); o = torch.optim.SGD(model.parameters(), 0.1)
x = torch.randn(64, 4); y = x.sum(1, keepdim=True)
class frozen:
    def __init__(self): self.stack = contextlib.ExitStack()
    def __enter__(self):
        self.stack.enter_context(torch.no_grad()); model.eval(); return self
    def __exit__(self, *e):
        model.train(); o.zero_grad(); return self.stack.__exit__(*e)
def run(train):
    prev = torch.is_grad_enabled()
    torch.set_grad_enabled(train)
    try:
        loss = (model(x) - y).pow(2).mean()
        if train:
            o.zero_grad(); loss.backward(); o.step()
        return loss.item()
    finally:
        torch.set_grad_enabled(prev)
def gen():
    with torch.no_grad():
        for b in x.split(16): yield model(b).mean().item()
for epoch in range(30):
    run(True); run(False)
    with frozen(): run(False); model(x)
    print(sum(gen()))
