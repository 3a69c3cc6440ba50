"""two heads share the encoder's output and each loss is differentiated on its own: the first backward() frees the shared part."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(41)


class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 16, 12))
        self.kind = nn.Linear(12, 3)
        self.angle = nn.Linear(12, 1)


images = torch.randn(80, 1, 6, 6)
kinds = images.flatten(1)[:, :3].argmax(1)
angles = images.mean((1, 2, 3)).unsqueeze(1)
model = Multi()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(8):
    for rows in torch.randperm(80).split(16):
        shared = model.encoder(images[rows])  # EXPECT-ERROR: graph-freed
        loss_kind = F.cross_entropy(model.kind(shared), kinds[rows])
        loss_angle = F.mse_loss(model.angle(shared), angles[rows])
        optimizer.zero_grad()
        loss_kind.backward()  # ALSO: graph-freed
        loss_angle.backward()
        optimizer.step()
    print("epoch", epoch, round(loss_kind.item(), 4), round(loss_angle.item(), 4))
