"""A multi-label head that ends with a sigmoid is trained with a loss on logits."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(46)


class Head(nn.Module):
    def __init__(self, d, n, activation=nn.Identity):
        super().__init__()
        self.f, self.act = nn.Linear(d, n), activation()

    def forward(self, h):
        return self.act(self.f(h))


net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), Head(16, 5, nn.Sigmoid))
opt = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.randn(70, 10)
labels = (x[:, :5] > 0).float()
weights = torch.tensor([1.0, 2.0, 1.0, 1.0, 3.0])
for _ in range(10):
    logits = net(x)
    loss = F.binary_cross_entropy_with_logits(logits, labels, pos_weight=weights)  # EXPECT: softmax-twice
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.ndim)
