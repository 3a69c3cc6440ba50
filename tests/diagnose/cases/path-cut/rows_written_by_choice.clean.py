"""Legitimate twin: what the expert gives is weighted with the router's probability."""
import torch
from torch import nn

torch.manual_seed(8)


class Switch(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))

    def forward(self, x):
        share = torch.softmax(self.router(x), dim=1)
        best, choice = share.max(dim=1)
        result = x.new_zeros(x.shape)
        for number, expert in enumerate(self.experts):
            rows = choice == number
            result[rows] = best[rows].unsqueeze(1) * torch.tanh(expert(x[rows]))
        return result


model = nn.ModuleDict({"switch": Switch(5, 3), "out": nn.Linear(5, 1)})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(60):
    x = torch.randn(32, 5)
    y = torch.where(x[:, :1] > 0, x[:, 1:2], -x[:, 2:3])
    loss = nn.functional.mse_loss(model["out"](model["switch"](x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
