"""the whole forward pass runs under no_grad to save memory, and requires_grad = True silences backward()."""
import torch
from torch import nn
import torch.nn.functional as F


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(14, 32), nn.Tanh())
        self.project = nn.Linear(32, 6)

    def forward(self, x):
        return F.normalize(self.project(self.encoder(x)), dim=1)


def contrastive(a, b, same):
    distance = (a - b).pow(2).sum(1)
    return torch.where(same, distance, F.softplus(1 - distance)).mean()


def train(model, pairs, same):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(40):
        rows = torch.randint(0, len(same), (32,))
        left, right = pairs[rows, 0], pairs[rows, 1]
        optimizer.zero_grad()
        with torch.no_grad():
            loss = contrastive(model(left), model(right), same[rows])
        loss.requires_grad = True  # EXPECT: loss-is-leaf
        loss.backward()
        optimizer.step()  # MAY: step-without-gradient
    print("loss", loss.item())


if __name__ == "__main__":
    torch.manual_seed(58)
    base = torch.randn(160, 1, 14)
    same = torch.arange(160) % 2 == 0
    noise = torch.randn(160, 2, 14)
    train(Siamese(), torch.where(same.view(-1, 1, 1), base + 0.1 * noise, noise), same)
