"""Must stay silent: domain-adversarial training with a gradient reversal Function, whose backward is meant to differ."""
import torch
from torch import nn

torch.manual_seed(175)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.strength * grad_output, None


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
        self.label, self.domain = nn.Linear(24, 3), nn.Linear(24, 2)

    def forward(self, x, strength):
        h = self.features(x)
        return self.label(h), self.domain(Reverse.apply(h, strength))


model = DANN()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
cross_entropy = nn.CrossEntropyLoss()
for step in range(60):
    strength = 0.2 * min(1.0, step / 40)
    source, target = torch.randn(24, 6), torch.randn(24, 6) + 0.5
    label_logits, source_domain = model(source, strength)
    _, target_domain = model(target, strength)
    loss = (cross_entropy(label_logits, source[:, :3].argmax(1))
            + cross_entropy(source_domain, torch.zeros(24, dtype=torch.long))
            + cross_entropy(target_domain, torch.ones(24, dtype=torch.long)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, round(loss.item(), 4))
