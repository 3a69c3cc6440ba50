"""a logging helper differentiates the loss to report the gradient norm, and then the loop differentiates it again."""
import torch
from torch import nn
import torch.nn.functional as F


def gradient_norm(loss, params):
    grads = torch.autograd.grad(loss, params)  # ALSO: graph-freed
    return torch.stack([g.norm() for g in grads]).norm().item()


class Trainer:
    def __init__(self, lr):
        self.model = nn.Sequential(nn.Linear(9, 20), nn.Softplus(), nn.Linear(20, 4))
        self.params = list(self.model.parameters())
        self.optimizer = torch.optim.Adamax(self.params, lr=lr)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)  # EXPECT-ERROR: graph-freed
        norm = gradient_norm(loss, self.params)
        loss.backward()
        self.optimizer.step()
        return loss.item(), norm


torch.manual_seed(91)
x = torch.randn(120, 9)
y = x[:, :4].argmax(1)
trainer = Trainer(lr=1e-2)
for epoch in range(5):
    for idx in torch.randperm(120).split(20):
        value, norm = trainer.step(x[idx], y[idx])
    print(f"epoch {epoch} loss {value:.4f} norm {norm:.4f}")
