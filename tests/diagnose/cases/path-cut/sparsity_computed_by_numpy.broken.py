"""The penalty of each sample is computed by NumPy."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(71)
coder, decoder = nn.Linear(8, 5), nn.Linear(5, 8)
opt = torch.optim.SGD([*coder.parameters(), *decoder.parameters()], lr=0.05)
for it in range(40):
    x = torch.randn(16, 8)
    code = coder(x)
    sparsity = torch.from_numpy(np.abs(code.detach().numpy()).sum(1))  # EXPECT: path-cut
    per_sample = (decoder(code) - x).square().sum(1)
    loss = torch.mean(per_sample + 0.1 * sparsity)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("done")
