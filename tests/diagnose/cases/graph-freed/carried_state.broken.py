"""A stateful agent keeps its belief over updates."""
import torch
from torch import nn

torch.manual_seed(25)


class Belief:
    def __init__(self, cell):
        self.cell, self.h = cell, None

    def observe(self, o):
        h = torch.zeros(o.shape[0], 12) if self.h is None else self.h
        self.h = self.cell(o, h)  # EXPECT-ERROR: graph-freed
        return self.h

    def forget_graph(self):
        return self


cell, out = nn.GRUCell(3, 12), nn.Linear(12, 1)
belief = Belief(cell)
opt = torch.optim.Adam([*cell.parameters(), *out.parameters()], 1e-2)
for t in range(10):
    o = torch.randn(4, 3)
    loss = (out(belief.observe(o)) - o.mean(1, keepdim=True)).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    belief.forget_graph()
print("t", t)
