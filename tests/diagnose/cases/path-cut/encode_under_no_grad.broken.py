"""encode() carries a no_grad decorator meant for inference and is used in training, so the encoder stays random."""
import torch
from torch import nn


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(18, 12), nn.GELU(), nn.Linear(12, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 12), nn.GELU(), nn.Linear(12, 18))

    @torch.no_grad()
    def encode(self, x):
        return self.encoder(x)  # EXPECT: path-cut

    def forward(self, x):
        return self.decoder(self.encode(x))


torch.manual_seed(54)
data = torch.randn(160, 4) @ torch.randn(4, 18)
model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)  # MAY: parameter-not-optimized
for epoch in range(6):
    total = 0.0
    for rows in torch.randperm(160).split(20):
        batch = data[rows]
        loss = nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("epoch", epoch, "loss", round(total / 8, 4))
print("code of the first row", [round(v, 3) for v in model.encode(data[:1])[0].tolist()])
