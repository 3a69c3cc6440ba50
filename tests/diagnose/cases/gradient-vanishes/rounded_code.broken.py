"""round() in the bottleneck of an autoencoder has derivative zero: the encoder never learns."""
import torch
from torch import nn

torch.manual_seed(44)


class Quantiser(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.levels = levels

    def forward(self, code):
        scaled = torch.sigmoid(code) * self.levels
        return torch.round(scaled) / self.levels


class Compressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 6))
        self.quantise = Quantiser(levels=7)
        self.decoder = nn.Sequential(nn.Linear(6, 24), nn.GELU(), nn.Linear(24, 16))

    def forward(self, x):
        return self.decoder(self.quantise(self.encoder(x)))


basis = torch.randn(4, 16)
model = Compressor()
optimizer = torch.optim.Adam(
    [{"params": model.encoder.parameters()}, {"params": model.decoder.parameters(), "lr": 1e-3}], lr=2e-3)
for step in range(60):
    x = torch.randn(32, 4) @ basis
    distortion = (model(x) - x).square().mean()
    optimizer.zero_grad()
    distortion.backward()  # EXPECT: gradient-vanishes
    optimizer.step()
    if step % 20 == 19:
        print(step, round(distortion.item(), 4))
