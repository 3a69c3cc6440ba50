"""higher: gradients through the steps of an optimizer."""

import higher
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
meta = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(4):
    meta.zero_grad()
    total = 0.0
    for task in range(3):
        inner = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
        amplitude, phase = 1.0 + task, 0.3 * step
        x = torch.linspace(-2, 2, 10).unsqueeze(1)
        y = amplitude * torch.sin(x + phase)
        with higher.innerloop_ctx(model, inner, copy_initial_weights=False) as (fast, optimizer):
            for _ in range(3):
                optimizer.step((fast(x) - y).pow(2).mean())
            loss = (fast(x + 0.1) - amplitude * torch.sin(x + 0.1 + phase)).pow(2).mean()
            loss.backward()
            total += loss.item()
    meta.step()
    print(total, model[0].weight.grad.norm().item())
adam = torch.optim.Adam(model.parameters(), lr=0.05)
with higher.innerloop_ctx(model, adam) as (fast, optimizer):
    for _ in range(2):
        optimizer.step((fast(x) - y).pow(2).mean())
    grads = torch.autograd.grad((fast(x) - y).pow(2).mean(), fast.parameters(time=0))
    print([g.norm().item() for g in grads])
