"""The scores of a later phase are normalised over their last dimension, of size 1."""
import torch
from torch import nn

torch.manual_seed(40)


class Pooled(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.inp, self.score, self.out = nn.Linear(4, d), nn.Linear(d, 1), nn.Linear(d, 2)
        self.use_attention = False

    def forward(self, x):
        h = torch.tanh(self.inp(x))
        if self.use_attention:
            w = self.score(h).softmax(dim=-1)  # EXPECT: softmax-over-one
            pooled = (w * h).sum(1)
        else:
            pooled = h.mean(1) + 0 * self.score(h).sum(1)
        return self.out(pooled)


model = Pooled()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(520):
    model.use_attention = step >= 310
    x = torch.randn(16, 5, 4)
    y = (x[..., 0].max(1).values > 1).long()
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()  # MAY: gradient-vanishes
    opt.step()
print(loss.item())
