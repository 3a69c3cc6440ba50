"""the module computes its memory keys once and keeps them with their graph for all later batches."""
import torch
from torch import nn


class MemoryNet(nn.Module):
    def __init__(self, facts):
        super().__init__()
        self.facts = facts
        self.project = nn.Linear(facts.shape[1], 8)
        self.query = nn.Linear(5, 8)
        self.out = nn.Linear(8, 2)
        self.keys = None

    def forward(self, x):
        if self.keys is None:
            self.keys = torch.tanh(self.project(self.facts))  # EXPECT-ERROR: graph-freed
        weights = (self.query(x) @ self.keys.t()).softmax(1)
        return self.out(weights @ self.keys)


def main():
    torch.manual_seed(65)
    model = MemoryNet(torch.randn(20, 6))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x = torch.randn(90, 5)
    y = (x[:, 0] > x[:, 1]).long()
    for epoch in range(6):
        for rows in torch.randperm(90).split(15):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            loss.backward()  # ALSO: graph-freed
            optimizer.step()
        print("epoch", epoch, "loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
