"""the hidden layer goes through torch.sign with a straight-through estimator."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(221)


class BinaryNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(10, 32)
        self.norm = nn.LayerNorm(32)
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        h = self.norm(self.hidden(x))
        code = h + (torch.sign(h) - h).detach()
        return self.head(code)


model = BinaryNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x = torch.randn(120, 10)
y = x[:, :3].argmax(1)
for epoch in range(12):
    for rows in torch.randperm(120).split(24):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("loss", round(loss.item(), 4))
