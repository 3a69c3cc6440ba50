"""A ring buffer of features is written in place between forward and backward."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(23)


class Queue(nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.register_buffer("keys", F.normalize(torch.randn(size, dim), dim=1))
        self.ptr = 0

    def push(self, k):
        self.keys[self.ptr : self.ptr + len(k)] = k
        self.ptr = (self.ptr + len(k)) % len(self.keys)


q_net, k_net, queue = nn.Linear(8, 6), nn.Linear(8, 6), Queue(32, 6)
k_net.load_state_dict(q_net.state_dict())
opt = torch.optim.SGD(q_net.parameters(), 0.05)
for it in range(12):
    x = torch.randn(8, 8)
    q = F.normalize(q_net(x + 0.1 * torch.randn_like(x)), dim=1)
    with torch.no_grad():
        k = F.normalize(k_net(x), dim=1)
    negatives = q @ queue.keys.clone().t()
    logits = torch.cat([(q * k).sum(1, keepdim=True), negatives], 1) / 0.2
    loss = F.cross_entropy(logits, torch.zeros(8, dtype=torch.long))
    queue.push(k)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(queue.ptr)
