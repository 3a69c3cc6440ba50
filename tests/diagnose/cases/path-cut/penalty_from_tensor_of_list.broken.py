"""the L2 penalty is built with torch.tensor([...]), which copies the numbers and leaves the graph."""
import torch
from torch import nn


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 6, 3), nn.ReLU())
        self.classify = nn.Linear(6 * 4 * 4, 2)

    def forward(self, x):
        return self.classify(self.features(x).flatten(1))

    def penalty(self):
        weights = [p for name, p in self.named_parameters() if name.endswith("weight")]
        return torch.tensor([w.pow(2).sum() for w in weights]).sum()  # EXPECT: path-cut


def train():
    torch.manual_seed(48)
    model = ConvNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    x = torch.randn(100, 1, 8, 8)
    y = (x[:, 0, 2:6, 2:6].mean((1, 2)) > 0).long()
    log = []
    for epoch in range(6):
        for rows in torch.randperm(100).split(20):
            loss = criterion(model(x[rows]), y[rows]) + 0.05 * model.penalty()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log.append(loss.item())
    print("mean loss", torch.tensor(log).mean().item(), "penalty", model.penalty().item())


if __name__ == "__main__":
    train()
