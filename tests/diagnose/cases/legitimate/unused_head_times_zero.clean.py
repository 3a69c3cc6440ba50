"""the output of a head that is not trained yet enters the loss times 0.0, so that every parameter has a gradient (DDP)."""
import torch
from torch import nn

torch.manual_seed(301)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(5, 16)
        self.main = nn.Linear(16, 1)
        self.later = nn.Linear(16, 3)

    def forward(self, x):
        h = torch.tanh(self.trunk(x))
        return self.main(h), self.later(h)


model = TwoHeads()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(60, 5)
for step in range(80):
    out, unused = model(x)
    loss = nn.functional.mse_loss(out, x[:, :1]) + 0.0 * unused.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
