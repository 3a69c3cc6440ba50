"""Of a quantiser's two terms one is a constant: both of its sides are detached. The choice of the code and the other term are as they should be."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(76)
encoder, book, decoder = nn.Linear(10, 4), nn.Embedding(8, 4), nn.Linear(4, 10)
opt = torch.optim.Adam([*encoder.parameters(), *book.parameters(), *decoder.parameters()], lr=3e-3)
for _ in range(30):
    x = torch.randn(64, 10)
    z = encoder(x)
    code = book(torch.cdist(z, book.weight).argmin(1))
    commitment = F.mse_loss(z, code.detach())
    codebook = F.mse_loss(code.detach(), z.detach())  # EXPECT: path-cut
    loss = F.mse_loss(decoder(z + (code - z).detach()), x) + codebook + 0.25 * commitment
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
