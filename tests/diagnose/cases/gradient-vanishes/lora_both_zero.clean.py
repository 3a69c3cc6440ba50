"""Legitimate twin: the usual adapter, A random and B zero; A's gradient is zero only at the first step."""
import torch
from torch import nn

torch.manual_seed(42)


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + (x @ self.A.T) @ self.B.T


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = LoRALinear(nn.Linear(10, 24))
        self.head = nn.Linear(24, 4)

    def forward(self, x):
        return self.head(torch.relu(self.layer(x)))


def main():
    model = Adapted()
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=5e-3, weight_decay=0.01)
    x = torch.randn(200, 10)
    y = x[:, :4].argmax(1)
    for epoch in range(7):
        for index in torch.randperm(200).split(25):
            loss = nn.functional.cross_entropy(model(x[index]), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("loss", round(loss.item(), 4), "adapter norm", model.layer.B.norm().item())


if __name__ == "__main__":
    main()
