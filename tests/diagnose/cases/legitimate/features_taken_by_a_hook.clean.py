"""A hook takes what a hidden layer gives; the classifier behind it runs for nothing, and the optimizer owns it with the rest."""
import torch
from torch import nn

torch.manual_seed(204)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.pool, self.classifier = nn.Conv1d(2, 8, 3), nn.AdaptiveAvgPool1d(1), nn.Linear(8, 5)

    def forward(self, x):
        return self.classifier(self.pool(self.body(x).relu()).flatten(1))


class Learner(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone, self.projector = backbone, nn.Linear(8, 4)
        backbone.pool.register_forward_hook(self.take)

    def take(self, module, inputs, output):
        self.hidden = output.flatten(1)

    def forward(self, x):
        self.backbone(x)
        return nn.functional.normalize(self.projector(self.hidden), dim=1)


learner = Learner(Backbone())
opt = torch.optim.Adam(learner.parameters(), lr=3e-3)
for _ in range(30):
    x = torch.randn(16, 2, 12)
    loss = nn.functional.cross_entropy(learner(x) @ learner(x + 0.1 * torch.randn_like(x)).T / 0.1, torch.arange(16))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
