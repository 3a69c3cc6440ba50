"""InfoNCE with the similarities softmaxed before cross entropy: the loss cannot fall below its floor."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(61)


def augment(x):
    return x + 0.05 * torch.randn_like(x)


def info_nce(left, right, temperature=0.2):
    left, right = F.normalize(left, dim=-1), F.normalize(right, dim=-1)
    similarity = left @ right.t() / temperature
    labels = torch.arange(len(left))
    attention = similarity.softmax(dim=-1)  # ALSO: softmax-twice
    return F.cross_entropy(attention, labels)  # EXPECT: softmax-twice


encoder = nn.Sequential(nn.Linear(15, 32), nn.BatchNorm1d(32), nn.ReLU())
projector = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 8))
optimizer = torch.optim.SGD([*encoder.parameters(), *projector.parameters()], lr=0.1, momentum=0.9)
data = torch.randn(128, 15)
for step in range(20):
    batch = data[torch.randperm(128)[:24]]
    views = [projector(encoder(augment(batch))) for _ in range(2)]
    loss = info_nce(*views)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
