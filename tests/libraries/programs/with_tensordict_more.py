"""tensordict: shapes, memory maps, modules, probabilistic modules, functional calls, classes."""

import tempfile

import torch
from tensordict import *
from tensordict.nn import *

torch.manual_seed(0)
t = TensorDict({"a": torch.randn(4, 3), "n": {"b": torch.arange(8.0).view(4, 2)}}, batch_size=[4])
print(t.shape, sorted(map(str, t.keys(True, True))), t["n", "b"].sum().item())
print(
    t[1:3].shape,
    t.reshape(2, 2).shape,
    t.unsqueeze(0).shape,
    torch.stack([t, t]).shape,
    torch.cat([t, t]).shape,
    t.split(2)[0].shape,
    t.expand(2, 4).shape,
    t.permute(0).shape,
    t.view(-1).shape,
    t.flatten_keys(".").keys().__len__(),
)
t["c"] = torch.ones(4)
t.set(("n", "d"), torch.zeros(4))
u = t.apply(lambda x: x * 2)
print(
    u["c"].tolist(),
    (t + t)["c"].tolist(),
    t.sum()["c"].item() if not isinstance(t.sum(), torch.Tensor) else "",
    (t == t).all(),
    t.select("a").keys().__len__(),
    t.exclude("a").keys().__len__(),
    t.to(torch.float64)["c"].dtype,
)
d = tempfile.mkdtemp()
t.memmap(d)
v = TensorDict.load_memmap(d)
print(torch.equal(v["a"], t["a"]), v.is_memmap())
v["c"][0] = v["c"][0]
ms = MemoryMappedTensor.from_tensor(torch.arange(4.0))
print(ms.sum().item(), type(ms).__name__)
torch.save(t, d + "/t.pt")
w = torch.load(d + "/t.pt", weights_only=False)
print(torch.equal(w["a"], t["a"]))
sd = t.state_dict()
z = t.clone().zero_()
z.load_state_dict(sd)
print((z == t).all())
net = TensorDictSequential(
    TensorDictModule(torch.nn.Linear(3, 5), ["obs"], ["h"]),
    TensorDictModule(torch.nn.Tanh(), ["h"], ["h"]),
    TensorDictModule(torch.nn.Linear(5, 2), ["h"], ["out"]),
)
x = TensorDict({"obs": torch.randn(6, 3)}, [6])
o = torch.optim.Adam(net.parameters(), 0.01)
for i in range(3):
    l = net(x)["out"].pow(2).mean()
    o.zero_grad()
    l.backward()
    o.step()
    print(l.item())
print(net.in_keys, net.out_keys, net.select_subsequence(out_keys=["h"]).out_keys)
p = ProbabilisticTensorDictSequential(
    TensorDictModule(torch.nn.Sequential(torch.nn.Linear(3, 4), NormalParamExtractor()), ["obs"], ["loc", "scale"]),
    ProbabilisticTensorDictModule(
        ["loc", "scale"], ["act"], distribution_class=torch.distributions.Normal, return_log_prob=True
    ),
)
torch.manual_seed(1)
r = p(x)
print(r["loc"].sum().item(), sorted(r.keys()))
print(p.get_dist(x).mean.sum().item())
params = TensorDict.from_module(net)
with params.data.apply(lambda q: q * 0).to_module(net):
    print(net(x.clone())["out"].abs().sum().item())
print(net(x.clone())["out"].abs().sum().item() > 0, sorted(params.keys()))
nets = [torch.nn.Linear(3, 2) for _ in range(3)]
st = TensorDict.from_modules(*nets, as_module=False)
base = torch.nn.Linear(3, 2)


def call(pp, xx):
    with pp.to_module(base):
        return base(xx)


print(torch.vmap(call, (0, None))(st, torch.ones(4, 3)).shape)
tp = TensorDictParams(TensorDict({"w": torch.ones(3)}, []))
print(len(list(tp.parameters())))


@tensorclass
class D:
    x: torch.Tensor
    y: torch.Tensor
    s: str = "q"


e = D(x=torch.randn(3, 2), y=torch.arange(3), batch_size=[3])
print(e[0].y.item(), e.shape, torch.stack([e, e]).x.shape, e.s)
ee = e.clone()
print(ee.x.shape, (ee + 1).y.tolist() if hasattr(ee, "__add__") else "")
lz = LazyStackedTensorDict(TensorDict({"a": torch.ones(2)}, []), TensorDict({"a": torch.zeros(2)}, []), stack_dim=0)
print(lz["a"].tolist(), lz.shape)
ns = TensorDict({"k": NonTensorData("hi")}, [])
print(ns["k"])
print(
    pad(t, [0, 2])["c"].tolist(),
    torch.gather(t, 0, torch.tensor([0, 2]))["c"].tolist(),
    t.where(torch.tensor([True, False, True, True]), t * 0)["c"].tolist(),
)
print(
    "",
    t.numel(),
    t.bytes(),
    TensorDict.from_dict({"a": [1.0, 2.0]}, auto_batch_size=True).shape,
    is_tensor_collection(t),
)
print(t)
lock = t.clone().lock_()
try:
    lock["zz"] = torch.ones(4)
except RuntimeError:
    print("locked")
print(
    t.to_dict()["n"]["d"].tolist(),
    t.detach().requires_grad_().grad is None if hasattr(t, "grad") else "",
    {k: vv.shape for k, vv in t.items(True, True)}.__len__(),
    t.named_apply(lambda k, q: q + 1, nested_keys=True)["c"].tolist(),
    t.norm()["c"].item() if hasattr(t, "norm") else "",
)
