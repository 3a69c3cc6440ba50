"""Two optimizers; one helper clears only the head's."""
import torch
from torch import nn

torch.manual_seed(0)
enc = nn.Sequential(nn.Linear(5, 16), nn.Tanh())
heads = nn.ModuleDict({"a": nn.Linear(16, 1), "b": nn.Linear(16, 1)})
optimizers = {
    "enc": torch.optim.Adam(enc.parameters(), 1e-2),
    "heads": torch.optim.Adam(heads.parameters(), 1e-2),
}


def clear_all():
    optimizers["heads"].zero_grad()


def advance(loss):
    clear_all()
    loss.backward()
    optimizers["enc"].step()  # EXPECT: stale-gradient
    optimizers["heads"].step()


x = torch.randn(64, 5)
targets = {"a": x.sum(1, keepdim=True), "b": x[:, :1] * x[:, 1:2]}
for it in range(40):
    task = "ab"[it % 2]
    h = enc(x)
    loss = (heads[task](h) - targets[task]).pow(2).mean()
    advance(loss)
print(float(loss.detach()) < 100)
