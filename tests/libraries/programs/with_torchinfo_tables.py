"""torchinfo: every column, recurrent, nested, frozen and lazy modules, inputs of several kinds."""

import torch
import torch.nn as nn
from torchinfo import summary

torch.manual_seed(0)


class CNN(nn.Module):
    def __init__(s):
        super().__init__()
        s.c1 = nn.Conv2d(1, 10, 5)
        s.c2 = nn.Conv2d(10, 20, 5)
        s.d = nn.Dropout2d(0.3)
        s.f1 = nn.Linear(320, 50)
        s.f2 = nn.Linear(50, 10)

    def forward(s, x):
        x = nn.functional.max_pool2d(s.c1(x), 2).relu()
        x = nn.functional.max_pool2d(s.d(s.c2(x)), 2).relu().view(-1, 320)
        return s.f2(s.f1(x).relu()).log_softmax(1)


r = summary(
    CNN(),
    (4, 1, 28, 28),
    col_names=("input_size", "output_size", "num_params", "params_percent", "kernel_size", "mult_adds", "trainable"),
    verbose=0,
)
print(r)
print(r.total_params, r.trainable_params, r.total_mult_adds, r.total_output_bytes)
print(summary(nn.LSTM(10, 20, 2, bidirectional=True), (5, 3, 10), verbose=0))
print(
    summary(
        nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2),
        (2, 5, 16),
        verbose=0,
        depth=4,
        row_settings=("depth", "var_names", "ascii_only"),
    )
)
m = nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(20, 2))
[p.requires_grad_(False) for p in m[0].parameters()]
print(summary(m, input_data=torch.randint(0, 10, (3, 5)), verbose=0))
print(summary(m, verbose=0))


class Multi(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.ModuleDict(dict(x=nn.Linear(3, 4), y=nn.Linear(3, 4)))
        s.w = nn.Parameter(torch.ones(4))
        s.l = nn.ModuleList([nn.Linear(4, 4)] * 3)

    def forward(s, x, y=None, **k):
        h = s.a["x"](x["a"]) * s.w + (s.a["y"](y) if y is not None else 0)
        for l in s.l:
            h = l(h)
        return dict(out=h, n=[h, h])


print(summary(Multi(), input_data=[dict(a=torch.ones(2, 3))], y=torch.ones(2, 3), verbose=0, col_width=18))
print(summary(nn.Conv1d(3, 8, 3, groups=1), (3, 20), batch_dim=0, verbose=0))
print(summary(nn.Linear(3, 4).double(), (2, 3), dtypes=[torch.double], verbose=0))
print(summary(nn.BatchNorm2d(4), (2, 4, 5, 5), mode="eval", verbose=0, cache_forward_pass=True))
print(summary(nn.MultiheadAttention(8, 2, batch_first=True), input_data=[torch.ones(1, 4, 8)] * 3, verbose=0))
print(summary(nn.LazyLinear(4), (2, 6), verbose=0))
