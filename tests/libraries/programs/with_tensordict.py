"""tensordict: dictionaries of tensors with a batch shape, and modules that read and write them."""

import torch
from tensordict import TensorDict, tensorclass
from tensordict.nn import TensorDictModule, TensorDictSequential

torch.manual_seed(0)
data = TensorDict({"a": torch.randn(4, 3), "b": {"c": torch.arange(8).view(4, 2)}}, batch_size=[4])
print(data.shape, sorted(map(str, data.keys(True, True))), data["b", "c"].sum().item())
print(data[1:3]["a"].sum().item(), data.reshape(2, 2)["a"].shape, torch.stack([data, data]).shape)
print(
    torch.cat([data, data], 0)["a"].shape,
    data.apply(lambda x: x * 2)["a"].sum().item(),
    data.to(torch.float64)["a"].dtype,
)
data["d"] = data["a"].sum(-1)
print(data.exclude("b").to_dict()["d"].sum().item(), data.flatten_keys(".").get("b.c").shape)
first = TensorDictModule(torch.nn.Linear(3, 8), in_keys=["a"], out_keys=["hidden"])
second = TensorDictModule(torch.nn.Linear(8, 2), in_keys=["hidden"], out_keys=["out"])
model = TensorDictSequential(first, second)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(5):
    optimizer.zero_grad()
    loss = model(data.clone())["out"].pow(2).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
params = TensorDict.from_module(model)
print(sorted(map(str, params.keys(True, True))))
with params.data.apply(torch.zeros_like).to_module(model):
    print(model(data.clone())["out"].abs().sum().item())


@tensorclass
class Point:
    x: torch.Tensor
    y: torch.Tensor


points = Point(x=torch.randn(5), y=torch.randn(5), batch_size=[5])
print(points[:2].x.sum().item(), (points + 1).y.sum().item())
