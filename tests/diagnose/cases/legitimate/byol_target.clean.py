"""Must stay silent: BYOL; the target branch runs under no_grad with averaged weights, only the online branch learns."""
import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(112)


class BYOL(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, dim))
        self.predictor = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, dim))
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad_(False)

    def forward(self, first, second):
        predicted = F.normalize(self.predictor(self.online(first)), dim=1)
        with torch.no_grad():
            aimed = F.normalize(self.target(second), dim=1)
        return 2 - 2 * (predicted * aimed).sum(1)

    @torch.no_grad()
    def update_target(self, decay=0.97):
        for slow, fast in zip(self.target.parameters(), self.online.parameters()):
            slow.data = decay * slow.data + (1 - decay) * fast.data


model = BYOL()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
data = torch.randn(128, 10)
for step in range(50):
    batch = data[torch.randperm(128)[:32]]
    view1, view2 = batch + 0.2 * torch.randn(32, 10), batch + 0.2 * torch.randn(32, 10)
    loss = (model(view1, view2) + model(view2, view1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.update_target()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
