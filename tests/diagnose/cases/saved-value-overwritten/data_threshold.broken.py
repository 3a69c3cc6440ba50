"""small attention weights are zeroed through .data, behind autograd's back: softmax's backward uses the zeroed values."""
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
        weights = scores.softmax(-1)  # ALSO: saved-value-overwritten
        weights.data[weights.data < threshold] = 0.0  # EXPECT: saved-value-overwritten
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
    if step % 10 == 9:
        print(step, "loss", round(loss.item(), 4))
