"""Legitimate twin: .data is written where no backward needs the value: on a copy, and on the weights between two steps."""
import torch
from torch import nn

torch.manual_seed(59)


class SparseAttention(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 3)

    def forward(self, x, threshold=0.12):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5
        weights = scores.softmax(-1)
        sparse = weights.detach().clone()
        sparse.data[sparse.data < threshold] = 0.0
        self.kept = (sparse > 0).float().mean().item()
        return self.out((weights @ x).mean(1))


x = torch.randn(100, 7, 8)
y = x.mean(1)[:, :3].argmax(1)
model = SparseAttention()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(50):
    rows = torch.randint(0, 100, (20,))
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.out.bias.data.clamp_(-0.5, 0.5)
    if step % 10 == 9:
        print(step, "loss", round(loss.item(), 4), "kept", round(model.kept, 3))
