"""Must stay silent: hinge losses use relu as a margin; on easy data they are zero, and then so are the gradients."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(185)
svm = nn.Linear(5, 1)
optimizer = torch.optim.SGD(svm.parameters(), lr=0.1, weight_decay=1e-3)
direction = torch.randn(5)
for step in range(100):
    x = torch.randn(30, 5)
    y = torch.sign(x @ direction)
    x = x + y[:, None] * direction
    margin = F.relu(1 - y * svm(x).squeeze(1))
    loss = margin.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 24:
        print(step, round(loss.item(), 5), "violations", int((margin > 0).sum()))
