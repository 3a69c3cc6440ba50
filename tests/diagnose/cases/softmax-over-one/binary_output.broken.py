"""A binary classifier with one output unit ends in softmax over that unit: every probability is 1."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)


class ChurnNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(10, 24)
        self.out = nn.Linear(24, 1)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        return self.softmax(self.out(x))  # EXPECT: softmax-over-one


x = torch.randn(320, 10)
churned = (x[:, 0] + x[:, 1] > 0).float().unsqueeze(1)
loader = DataLoader(TensorDataset(x, churned), batch_size=32, shuffle=True)
model = ChurnNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.BCELoss()
for epoch in range(4):
    running = 0.0
    for features, label in loader:
        optimizer.zero_grad()
        loss = criterion(model(features), label)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch} loss {running / len(loader):.4f}")
