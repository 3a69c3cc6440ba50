"""After the checkpoint is loaded the helper returns the model as it is wanted for inference."""
import io
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(40)


def build():
    return nn.Sequential(nn.Linear(6, 24), nn.LayerNorm(24), nn.ReLU(), nn.Dropout(0.3), nn.Linear(24, 3))


def restore(model, blob):
    blob.seek(0)
    model.load_state_dict(torch.load(blob))
    return model.eval()


x, y = torch.randn(90, 6), torch.arange(90) % 3
net = build()
opt = torch.optim.Adam(net.parameters(), 1e-2)
best, blob = float("inf"), io.BytesIO()
for epoch in range(12):
    net.train()
    for xb, yb in zip(x.split(18), y.split(18)):
        loss = F.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if loss.item() < best:
        best, blob = loss.item(), io.BytesIO()
        torch.save(net.state_dict(), blob)
    elif epoch >= 3:
        net = restore(net, blob)
print(best < 5)
