"""Must stay silent: of five experts one is never chosen by the router in this run."""
import torch
from torch import nn

torch.manual_seed(20)


class Mixture(nn.Module):
    def __init__(self, width=4, experts=5):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))
        nn.init.constant_(self.gate.bias[-1:].detach(), -12.0)

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(dim=-1).topk(2, dim=-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows, slots = torch.where(chosen == number)
            if len(rows):
                out = out.index_add(0, rows, weights[rows, slots].unsqueeze(1) * expert(x[rows]))
        return out


model = Mixture()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(70):
    x = torch.randn(32, 4)
    loss = nn.functional.mse_loss(model(x), x.flip(1).tanh())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
