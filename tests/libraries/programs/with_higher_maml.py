"""higher: learning to learn, learning rates by gradient, recurrent and normalized networks."""

import higher
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
mo = torch.optim.Adam(net.parameters(), 0.001)
for it in range(3):
    mo.zero_grad()
    tot = 0.0
    for task in range(3):
        a = 1 + torch.rand(1)
        p = 3 * torch.rand(1)
        x = torch.rand(8, 1) * 4 - 2
        y = a * torch.sin(x + p)
        inner = torch.optim.SGD(net.parameters(), 0.05, momentum=0.5)
        with higher.innerloop_ctx(net, inner, copy_initial_weights=False, track_higher_grads=True) as (fn, d):
            for _ in range(2):
                d.step(F.mse_loss(fn(x), y))
            l = F.mse_loss(fn(x + 0.1), a * torch.sin(x + 0.1 + p))
            l.backward()
            tot += l.item()
    mo.step()
    print(it, tot, sum(p.grad.norm() for p in net.parameters()).item())
lr = torch.tensor(0.1, requires_grad=True)
for O, kw in (
    (torch.optim.SGD, {}),
    (torch.optim.Adam, {}),
    (torch.optim.RMSprop, dict(centered=True)),
    (torch.optim.Adagrad, {}),
    (torch.optim.Adadelta, {}),
    (torch.optim.Adamax, {}),
    (torch.optim.ASGD, {}),
    (torch.optim.Rprop, {}),
):
    torch.manual_seed(1)
    m = nn.Linear(3, 2)
    o = O(m.parameters(), lr=0.1, **kw)
    x = torch.randn(5, 3)
    y = torch.randn(5, 2)
    try:
        with higher.innerloop_ctx(m, o, override={"lr": [lr]}) as (f, d):
            for i in range(3):
                d.step(F.mse_loss(f(x), y))
            (g,) = torch.autograd.grad(F.mse_loss(f(x), y), lr)
            print(O.__name__, g.item(), sum(p.sum() for p in f.parameters()).item())
    except Exception as e:
        print(O.__name__, "raises", type(e).__name__, str(e)[:60])
ml = higher.patch.monkeypatch(net)
ps = [p * 2 for p in net.parameters()]
print(ml(torch.ones(1, 1), params=ps).item())
print(len(list(ml.parameters(time=0))))
bn = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
o = torch.optim.SGD(bn.parameters(), 0.01)
x = torch.randn(6, 1, 8, 8)
y = torch.randint(3, (6,))
with higher.innerloop_ctx(bn, o) as (f, d):
    for i in range(2):
        d.step(F.cross_entropy(f(x), y))
    l = F.cross_entropy(f(x), y)
    g = torch.autograd.grad(l, f.parameters(time=0))
    print(l.item(), sum(t.norm() for t in g).item())
rn = nn.GRU(3, 5)
o = torch.optim.SGD(rn.parameters(), 0.1)
with higher.innerloop_ctx(rn, o) as (f, d):
    xx = torch.randn(4, 2, 3)
    d.step(f(xx)[0].pow(2).mean())
    print(f(xx)[0].sum().item())
w = torch.ones(8, requires_grad=True)
c = nn.Linear(2, 2)
o = torch.optim.SGD(c.parameters(), 0.5)
with higher.innerloop_ctx(c, o) as (f, d):
    X = torch.randn(8, 2)
    Y = torch.randint(2, (8,))
    d.step((F.cross_entropy(f(X), Y, reduction="none") * w).mean())
    print(torch.autograd.grad(F.cross_entropy(f(X), Y), w)[0].tolist())
print(
    higher.optim.get_trainable_opt_params(torch.optim.Adam(c.parameters(), 0.001)).keys()
    if hasattr(higher.optim, "get_trainable_opt_params")
    else higher.get_diff_optim(o, c.parameters()).__class__.__name__
)
