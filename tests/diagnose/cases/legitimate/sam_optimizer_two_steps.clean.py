"""Must stay silent: SAM as an Optimizer subclass; first_step without clearing in between would matter, it clears."""
import torch
from torch import nn


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self):
        norms = [p.grad.norm() for group in self.param_groups for p in group["params"]]
        scale = self.param_groups[0]["rho"] / (torch.stack(norms).norm() + 1e-12)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["old"] = p.detach().clone()
                p.add_(p.grad * scale)
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.copy_(self.state[p]["old"])
        self.base_optimizer.step()
        self.zero_grad()


torch.manual_seed(108)
model = nn.Sequential(nn.Conv1d(1, 6, 3, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(60, 2))
optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.05, rho=0.1)
for step in range(40):
    signal = torch.randn(20, 1, 10)
    label = (signal[:, 0, :5].sum(1) > 0).long()
    loss = nn.functional.cross_entropy(model(signal), label)
    loss.backward()
    optimizer.first_step()
    nn.functional.cross_entropy(model(signal), label).backward()
    optimizer.second_step()
print("loss", round(loss.item(), 4))
