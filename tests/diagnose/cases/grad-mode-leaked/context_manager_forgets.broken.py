"""a context manager switches recording off and not on again."""

import torch, contextlib
from torch import nn

torch.manual_seed(0)
m = nn.Linear(4, 1)
o = torch.optim.SGD(m.parameters(), 0.1)


@contextlib.contextmanager
def evaluating(model):
    model.eval()
    torch.set_grad_enabled(False)  # EXPECT-ERROR: grad-mode-leaked
    yield model
    model.train()


for ep in range(3):
    for i in range(5):
        l = (m(torch.randn(8, 4)) - 1).pow(2).mean()
        o.zero_grad()
        l.backward()
        o.step()
    with evaluating(m):
        v = m(torch.randn(8, 4)).mean().item()
print("ok")
