"""Must stay silent: label smoothing by hand over log_softmax and by the built-in option, with mixup targets."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(180)


def smoothed(logits, target, epsilon=0.1):
    log_probability = F.log_softmax(logits, dim=-1)
    nll = -log_probability.gather(1, target.unsqueeze(1)).squeeze(1)
    return ((1 - epsilon) * nll - epsilon * log_probability.mean(1)).mean()


model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(60):
    x = torch.randn(32, 8)
    y = x[:, :4].argmax(1)
    if step % 2:
        loss = smoothed(model(x), y)
    else:
        share = torch.rand(())
        order = torch.randperm(32)
        soft = share * F.one_hot(y, 4) + (1 - share) * F.one_hot(y[order], 4)
        loss = F.cross_entropy(model(share * x + (1 - share) * x[order]), soft, label_smoothing=0.05)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 >= 18:
        print(step, round(loss.item(), 4))
