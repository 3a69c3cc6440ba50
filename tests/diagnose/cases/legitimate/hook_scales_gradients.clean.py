"""a tensor hook reverses the gradient for a domain classifier; a step hook logs norms."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(109)
feat, task, domain = nn.Linear(6, 10), nn.Linear(10, 2), nn.Linear(10, 2)
opt = torch.optim.SGD([*feat.parameters(), *task.parameters(), *domain.parameters()], lr=0.05)
norms = []
opt.register_step_pre_hook(lambda o, a, k: norms.append(float(sum(p.grad.norm() for p in feat.parameters()))))
for _ in range(40):
    x = torch.randn(30, 6)
    h = torch.tanh(feat(x))
    rev = h * 1.0
    rev.register_hook(lambda g: -0.3 * g)
    loss = F.cross_entropy(task(h), (x[:, 0] > 0).long()) + F.cross_entropy(domain(rev), (x[:, 1] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(len(norms))
