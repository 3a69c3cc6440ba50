"""A mixing weight is wrapped anew with torch.tensor at every call."""
import torch
import torch.nn as nn


class Gate(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(1))
        self.left, self.right = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        a = torch.sigmoid(self.alpha).to(x.dtype)
        return a * self.left(x) + (1 - a) * self.right(x)


def main():
    torch.manual_seed(2)
    net = nn.Sequential(Gate(5), nn.ReLU(), nn.Linear(5, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for epoch in range(3):
        for _ in range(10):
            x = torch.randn(16, 5)
            loss = (net(x) - x.norm(dim=1, keepdim=True)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, f"{loss.item():.3f}")


main()
