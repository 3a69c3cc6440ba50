"""torchinfo and torchviz: several inputs, nested modules, graphs with what they keep."""

import torch
import torch.nn as nn
from torchinfo import summary


class Two(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Linear(4, 5)
        s.b = nn.Linear(3, 5)
        s.p = nn.Parameter(torch.zeros(5))
        s.l = nn.ModuleList([nn.Linear(5, 5) for _ in range(2)])
        s.d = nn.ModuleDict({"x": nn.Tanh()})
        s.s = nn.TransformerEncoderLayer(8, 2, 16)

    def forward(s, u, v, scale=1.0):
        h = (s.a(u) + s.b(v) + s.p) * scale
        for l in s.l:
            h = s.d["x"](l(h))
        return (h, s.s(torch.zeros(3, 2, 8)))


print(summary(Two(), [(2, 4), (2, 3)], verbose=0, scale=2.0, depth=4))
print(summary(Two(), input_data={"u": torch.zeros(2, 4), "v": torch.zeros(2, 3)}, verbose=0, mode="eval").total_params)
from torchviz import make_dot

w = torch.randn(3, 4, requires_grad=True)
x = torch.randn(2, 3)
y = (x @ w).relu().sum()
g = make_dot(y, params={"w": w})
print(g.source.count("->"), ["" for l in []])
import re

print(
    sorted(re.findall('\\d+ \\[label="?([A-Za-z0-9_]+)', g.source)) or sorted(re.findall("(\\w+Backward\\d)", g.source))
)
m = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(18, 2))
o = m(torch.randn(1, 1, 8, 8))
g = make_dot(o.mean(), params=dict(m.named_parameters()), show_attrs=False, show_saved=False)
print(sorted(re.findall("(\\w+Backward\\d)", g.source)))
print(sum("lightblue" in l for l in g.source.splitlines()))
lst = nn.LSTM(3, 4)
o, (h, c) = lst(torch.randn(5, 1, 3))
g = make_dot((o, h), params=dict(lst.named_parameters()))
print(len(g.source.splitlines()) > 3)


class Sq(torch.autograd.Function):
    @staticmethod
    def forward(c, x):
        c.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(c, g):
        return 2 * c.saved_tensors[0] * g


g = make_dot(Sq.apply(w).sum())
print(sorted(re.findall("(\\w+Backward\\d?)", g.source)))
g = make_dot(torch.autograd.grad(y * y, w, create_graph=True)[0].sum(), params={"w": w})
print(sorted(re.findall("(\\w+Backward\\d)", g.source)))
g = make_dot(y, params={"w": w}, show_attrs=True, show_saved=True)
print(sorted(set(re.findall("(saved_\\w+|_saved_\\w+|\\w+Backward\\d)", g.source))))
