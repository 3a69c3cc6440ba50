"""The activations are centred through `.data =` after a product has saved them."""
import torch
from torch import nn

torch.manual_seed(94)
a, b = nn.Linear(5, 8), nn.Parameter(torch.randn(8))
opt = torch.optim.SGD([*a.parameters(), b], 0.01)
for _ in range(12):
    x = torch.randn(20, 5)
    h = torch.tanh(a(x))
    out = (h * b).sum(1)  # ALSO: saved-value-overwritten
    h.data = h.data - h.data.mean(0)  # EXPECT: saved-value-overwritten
    loss = (out - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("centred")
