"""tensordict: operations on whole dictionaries, shared memory, dispatch, ensembles, distributions, loading."""

import pickle

import torch
import torch.nn as nn
from tensordict import NonTensorData, NonTensorStack, TensorDict, assert_close
from tensordict.nn import (
    AddStateIndependentNormalScale,
    CompositeDistribution,
    EnsembleModule,
    InteractionType,
    NormalParamExtractor,
    ProbabilisticTensorDictModule,
    dispatch,
    set_interaction_type,
)
from tensordict.nn import TensorDictModule as Mod
from tensordict.nn import TensorDictSequential as Seq
from tensordict.nn.distributions import Delta

torch.manual_seed(0)
t = TensorDict(
    a=torch.randn(4, 3), b=TensorDict(c=torch.arange(8.0).view(4, 2), batch_size=[4]), s="text", batch_size=[4]
)
print(
    t["s"],
    t.get("missing", None),
    ("b", "c") in t.keys(True),
    t.pop("s"),
    t.rename_key_("a", "A").keys(),
    t.update({"z": torch.ones(4)}).keys(),
    t.set("q", torch.zeros(4)).setdefault("q", 1).sum().item(),
    t.del_("q").keys(),
    t.replace(z=torch.zeros(4))["z"].sum().item(),
    next(iter(t.items(True, True)))[0],
    t.names,
    t.device,
)
t2 = TensorDict(t.to_dict(), [4])
assert_close(t, t2)
print(
    (t - t2).abs().sum()["A"].item(),
    (t * 2 + 1)["b", "c"].sum().item(),
    (t**2)["A"].sum().item(),
    (t.exp().log() - t).abs().max()["A"].item() < 1e-5 if hasattr(t.exp().log() - t, "max") else "",
    t.lerp(t2 + 1, 0.5)["A"].sum().item(),
    torch.where(torch.tensor([True, False, True, False]), t, t2 * 0)["b", "c"].sum().item(),
    t.masked_fill(torch.tensor([True, False, True, False]), 0.0)["A"].sum().item(),
    t.addcmul(t2, t2, value=0.5)["A"].sum().item(),
    torch.zeros_like(t).sum()["A"].item(),
    t.nanmean()["A"].item(),
    t.std(dim=0)["A"].tolist(),
    t.cumsum(0)["b", "c"][-1].tolist() if hasattr(t, "cumsum") else "",
)
print(
    torch.chunk(t, 2)[0].shape,
    t.repeat(2).shape,
    t.repeat_interleave(2, dim=0).shape,
    t.roll(1) if hasattr(t, "roll") else "",
    t.squeeze(-1).shape,
    t.flatten(0, 0).shape,
    t.masked_select(torch.tensor([True, False, True, False]))["A"].shape,
    t.to_tensordict().__class__.__name__,
    pickle.loads(pickle.dumps(t))["A"].equal(t["A"]),
    t.pin_memory is not None,
    t.share_memory_().is_shared(),
)
st = NonTensorStack(NonTensorData("a"), NonTensorData("b"))
print(st.tolist(), st.batch_size)
s = Seq(
    Mod(nn.Linear(3, 4), ["A"], ["h1"]),
    Mod(nn.Linear(2, 4), [("b", "c")], ["h2"]),
    Mod(lambda x, y: x + y, ["h1", "h2"], ["o"]),
)
print(s(t.clone())["o"].sum().item(), s.in_keys, s.out_keys, s.select_subsequence(out_keys=["h1"])(t.clone()).keys())


class My(nn.Module):
    in_keys, out_keys = ["x", "y"], ["z"]

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(2, 2)

    @dispatch
    def forward(self, tensordict):
        tensordict["z"] = self.l(tensordict["x"] + tensordict["y"])
        return tensordict


print(My()(torch.ones(1, 2), torch.ones(1, 2)).tolist())
with set_interaction_type(InteractionType.MEAN):
    pm = ProbabilisticTensorDictModule(["loc", "scale"], ["a"], distribution_class=torch.distributions.Normal)
    print(pm(TensorDict(loc=torch.ones(2), scale=torch.ones(2)))["a"].tolist())
en = EnsembleModule(Mod(nn.Linear(3, 2), ["A"], ["out"]), 3)
print(en(t.clone())["out"].shape)
o = torch.optim.SGD(en.parameters(), 0.1)
for _ in range(3):
    l = en(t.clone())["out"].square().mean()
    o.zero_grad()
    l.backward()
    o.step()
    print(round(l.item(), 5))
print(
    AddStateIndependentNormalScale(4)(torch.ones(2, 4))[1].tolist(),
    NormalParamExtractor()(torch.ones(1, 4))[1].tolist(),
)
d = Delta(torch.ones(3))
print(d.sample().tolist(), d.log_prob(torch.ones(3)).tolist())
c = CompositeDistribution(
    TensorDict(x=dict(loc=torch.zeros(2), scale=torch.ones(2)), y=dict(logits=torch.zeros(3))),
    distribution_map=dict(x=torch.distributions.Normal, y=torch.distributions.Categorical),
)
torch.manual_seed(1)
sm = c.sample()
print(
    sm["x"].tolist(),
    sm["y"].item(),
    c.log_prob(sm)
    if isinstance(c.log_prob(sm), torch.Tensor)
    else c.log_prob(sm).sum()["x_log_prob"].item()
    if "x_log_prob" in c.log_prob(sm).keys()
    else "",
)
print(c.sample()["x"].shape)
W = TensorDict(w=torch.randn(3, 2, requires_grad=True), b=torch.zeros(2, requires_grad=True))
op = torch.optim.Adam(list(W.values()), 0.1)
X, Y = torch.randn(8, 3), torch.randn(8, 2)
for _ in range(3):
    op.zero_grad()
    l = (X @ W["w"] + W["b"] - Y).square().mean()
    l.backward()
    op.step()
    print(round(l.item(), 5))
print(
    W.grad["w"].norm().item(),
    W.data["b"].tolist(),
    W.detach().is_empty(),
    W.requires_grad,
    W.zero_grad() is None or True,
)
ds = TensorDict(x=torch.randn(10, 3), y=torch.arange(10), batch_size=[10])
print(
    [b["y"].tolist() for b in torch.utils.data.DataLoader(ds, 4, collate_fn=lambda b: b, shuffle=True)],
    [
        b["y"].tolist()
        for b in torch.utils.data.DataLoader(
            ds, 4, collate_fn=lambda x: torch.stack(list(x)) if isinstance(x, list) else x
        )
    ],
)
q = TensorDict(x=torch.zeros(3), batch_size=[3])
q[1] = TensorDict(x=torch.tensor(5.0))
q[q["x"] > 1] = 0
print(q["x"].tolist())
print(torch.func.vmap(lambda td: td["A"].sum() + td["b", "c"].sum())(t).tolist())
