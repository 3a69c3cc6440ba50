"""Legitimate twin: two output units, softmax over both, negative log-likelihood of the logarithm."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)


class ChurnNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(10, 24)
        self.out = nn.Linear(24, 2)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        return self.softmax(self.out(x))


x = torch.randn(320, 10)
churned = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, churned), batch_size=32, shuffle=True)
model = ChurnNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.NLLLoss()
for epoch in range(4):
    running = 0.0
    for features, label in loader:
        optimizer.zero_grad()
        loss = criterion(model(features).clamp_min(1e-7).log(), label)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch} loss {running / len(loader):.4f}")
