"""three task losses are stacked into one vector and backward() is called on the vector."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.GRU(5, 16, batch_first=True)
        self.heads = nn.ModuleList([nn.Linear(16, 1), nn.Linear(16, 3), nn.Linear(16, 2)])

    def forward(self, x):
        _, h = self.trunk(x)
        return [head(h[-1]) for head in self.heads]


def multitask_loss(model, x, price, kind, risk):
    a, b, c = model(x)
    losses = [F.smooth_l1_loss(a, price), F.cross_entropy(b, kind), F.cross_entropy(c, risk)]
    return torch.stack(losses)  # EXPECT-ERROR: loss-not-scalar


x = torch.randn(90, 6, 5)
price = x[:, :, 0].mean(1, keepdim=True)
kind, risk = x[:, -1, :3].argmax(1), (x[:, -1, 4] > 0).long()
model = MultiTask()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(30):
    loss = multitask_loss(model, x, price, kind, risk)
    optimizer.zero_grad()
    loss.backward()  # ALSO: loss-not-scalar
    optimizer.step()
    if step % 10 == 9:
        print(step, "total", loss.sum().item())
