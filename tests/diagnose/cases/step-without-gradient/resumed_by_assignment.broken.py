"""After resuming, `assign=True` gives the model other parameters than the optimizer owns."""
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
        opt.step()  # EXPECT: step-without-gradient
    return loss.item()


model = make_model()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
train(model, opt, 300)
file = io.BytesIO()
torch.save({"model": model.state_dict(), "opt": opt.state_dict()}, file)
file.seek(0)

ck = torch.load(file)
model = make_model()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
model.load_state_dict(ck["model"], assign=True)
opt.load_state_dict(ck["opt"])
print(train(model, opt, 150))
