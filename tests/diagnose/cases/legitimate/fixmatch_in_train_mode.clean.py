"""Weak views are labelled without gradients in train mode, as the method does it; strong views learn from them."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
net = nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
opt = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
W = torch.randn(6, 3)
for step in range(60):
    xl, xu = torch.randn(16, 6), torch.randn(48, 6)
    weak, strong = xu + 0.05 * torch.randn_like(xu), xu + 0.5 * torch.randn_like(xu)
    with torch.no_grad():
        probs = net(weak).softmax(-1)
        conf, label = probs.max(-1)
    unsup = (F.cross_entropy(net(strong), label, reduction="none") * (conf > 0.6)).mean()
    loss = F.cross_entropy(net(xl), (xl @ W).argmax(1)) + unsup
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 2) > 0)
