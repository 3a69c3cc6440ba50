"""`__exit__` restores the mode of the model, and not that of the gradients."""

import torch
from torch import nn

torch.manual_seed(1)
m = nn.Linear(4, 1)
o = torch.optim.SGD(m.parameters(), 0.1)


class Evaluating:
    def __init__(s, model):
        s.model = model

    def __enter__(s):
        s.was = torch.is_grad_enabled()
        torch.set_grad_enabled(False)  # EXPECT: grad-mode-leaked
        s.model.eval()

    def __exit__(s, *a):
        s.model.train()


for ep in range(3):
    for i in range(5):
        o.zero_grad()
        l = (m(torch.randn(8, 4)) - 1).pow(2).mean()
        if l.requires_grad:
            l.backward()
            o.step()
    with Evaluating(m):
        v = m(torch.randn(8, 4)).mean().item()
print("ok")
