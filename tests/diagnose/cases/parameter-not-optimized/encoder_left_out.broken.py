"""encoder and decoder are models of their own, and the optimizer got the decoder alone."""

import torch
from torch import nn

torch.manual_seed(5)
encoder = nn.GRU(6, 16, batch_first=True)
decoder = nn.GRU(6, 16, batch_first=True)
out = nn.Linear(16, 6)
optimizer = torch.optim.Adam(list(decoder.parameters()) + list(out.parameters()), 1e-2)  # EXPECT: parameter-not-optimized
for i in range(40):
    src = torch.randn(8, 5, 6)
    _, h = encoder(src)
    y, _ = decoder(torch.cat([torch.zeros(8, 1, 6), src[:, :-1]], 1), h)
    l = (out(y) - src.flip(1)).pow(2).mean()
    optimizer.zero_grad()
    l.backward()
    optimizer.step()
print("ok")
