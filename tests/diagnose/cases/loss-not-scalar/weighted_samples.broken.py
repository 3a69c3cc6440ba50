"""reduction='none' for the sample weights, and then nobody takes the mean (discuss.pytorch.org 37733)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Weighted(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 20), nn.Mish(), nn.Linear(20, classes))
        self.criterion = nn.CrossEntropyLoss(reduction="none")

    def forward(self, x):
        return self.net(x)

    def loss(self, batch):
        x, y, weight = batch
        return self.criterion(self(x), y) * weight  # EXPECT-ERROR: loss-not-scalar


def main() -> None:
    torch.manual_seed(171)
    x = torch.randn(64, 6)
    y = x[:, :3].argmax(1)
    weight = 1.0 + (y == 0).float()
    model = Weighted(3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(3):
        for batch in DataLoader(TensorDataset(x, y, weight), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            loss = model.loss(batch)
            loss.backward()  # ALSO: loss-not-scalar
            optimizer.step()
    print("loss", round(loss.mean().item(), 4))


if __name__ == "__main__":
    main()
