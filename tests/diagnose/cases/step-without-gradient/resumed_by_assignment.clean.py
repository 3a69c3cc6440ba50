"""The optimizer is built after the state was loaded."""
import io
import torch
from torch import nn

torch.manual_seed(29)


def make_model():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))


def train(model, opt, steps):
    for _ in range(steps):
        x = torch.randn(16, 6)
        loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


model = make_model()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
train(model, opt, 300)
file = io.BytesIO()
torch.save({"model": model.state_dict(), "opt": opt.state_dict()}, file)
file.seek(0)

ck = torch.load(file)
model = make_model()
model.load_state_dict(ck["model"], assign=True)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
opt.load_state_dict(ck["opt"])
print(train(model, opt, 150))
