"""a trajectory of forty steps, each of whose gradients is asked for; and the path is the result."""
import torch

torch.manual_seed(109)
p = torch.randn(2, requires_grad=True)
force = torch.nn.Linear(2, 2)
at, path = p, []
for _ in range(40):
    at = at + 0.1 * torch.tanh(force(at))
    path.append(at)
speeds = [torch.autograd.grad(each.sum(), p, retain_graph=True)[0].norm().item() for each in path]
total = torch.stack(path).sum()
print(len(speeds), torch.autograd.grad(total, list(force.parameters()))[0].shape)
