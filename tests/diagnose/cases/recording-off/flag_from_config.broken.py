"""A switch of the configuration turns the recording off for the training phase."""
from types import SimpleNamespace
import torch
from torch import nn

torch.manual_seed(30)
cfg = SimpleNamespace(phases={"train": False, "valid": False})
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
data = {"train": torch.randn(20, 4), "valid": torch.randn(8, 4)}
for epoch in range(3):
    for phase, record in cfg.phases.items():
        with torch.set_grad_enabled(record):  # EXPECT-ERROR: recording-off
            loss = (net(data[phase]) - data[phase][:, :2]).pow(2).mean()
        if phase == "train":
            opt.zero_grad()
            loss.backward()
            opt.step()
print("epochs over")
