"""torch.autograd.grad measures one loss for balancing and frees what the common backward() needs."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(162)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(8, 16)
        self.a = nn.Linear(16, 1)
        self.b = nn.Linear(16, 4)

    def forward(self, x):
        h = torch.sigmoid(self.shared(x))
        return self.a(h), self.b(h)


def gradient_norm(loss, weight):
    (g,) = torch.autograd.grad(loss, weight)  # ALSO: graph-freed
    return g.norm()


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(32, 8)
for step in range(12):
    a, b = model(x)
    loss_a = F.mse_loss(a, x[:, :1])  # EXPECT-ERROR: graph-freed
    loss_b = F.cross_entropy(b, x[:, :4].argmax(1))
    weight_a = 1.0 / (gradient_norm(loss_a, model.shared.weight) + 1e-3)
    total = weight_a.detach() * loss_a + loss_b
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
print(round(total.item(), 3))
