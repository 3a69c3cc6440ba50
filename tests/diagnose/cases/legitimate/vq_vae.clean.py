"""Must stay silent: VQ-VAE; argmin picks the code, straight-through by detach, commitment and codebook losses."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(137)


class VectorQuantizer(nn.Module):
    def __init__(self, codes=12, dim=4):
        super().__init__()
        self.codebook = nn.Embedding(codes, dim)

    def forward(self, z):
        distances = torch.cdist(z, self.codebook.weight)
        chosen = self.codebook(distances.argmin(dim=1))
        loss = F.mse_loss(chosen, z.detach()) + 0.25 * F.mse_loss(z, chosen.detach())
        return z + (chosen - z).detach(), loss


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 4))
        self.quantizer = VectorQuantizer()
        self.decoder = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 8))

    def forward(self, x):
        quantized, loss = self.quantizer(self.encoder(x))
        return self.decoder(quantized), loss


centres = torch.randn(5, 8)
model = VQVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(60):
    x = centres[torch.randint(0, 5, (32,))] + 0.1 * torch.randn(32, 8)
    recon, vq_loss = model(x)
    loss = F.mse_loss(recon, x) + vq_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 4))
