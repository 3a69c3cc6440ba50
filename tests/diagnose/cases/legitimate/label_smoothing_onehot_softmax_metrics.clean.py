"""Must stay silent: label smoothing onehot softmax metrics."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(36)
net = nn.Linear(6, 4)
opt = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(40, 6), torch.arange(40) % 4
for _ in range(20):
    logits = net(x)
    probs = logits.softmax(1)
    conf = probs.max(1).values.mean().item()
    loss = F.cross_entropy(logits, y, label_smoothing=0.1) + 0.1 * (probs * probs.clamp(min=1e-8).log()).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(conf > 0)
