"""Legitimate twin: the running class centres are averaged from detached features; gradients flow through today's features only."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(15)


class CentreLoss(nn.Module):
    def __init__(self, classes, dim):
        super().__init__()
        self.classes = classes
        self.centres = torch.zeros(classes, dim)

    def forward(self, features, labels):
        onehot = F.one_hot(labels, self.classes).float()
        counts = onehot.sum(0).clamp(min=1).unsqueeze(1)
        means = onehot.t() @ features.detach() / counts
        self.centres = 0.8 * self.centres + 0.2 * means
        return (features - self.centres[labels]).pow(2).sum(1).mean()


x = torch.randn(160, 10)
y = x[:, :4].argmax(1)
embed, head = nn.Linear(10, 6), nn.Linear(6, 4)
centre_loss = CentreLoss(4, 6)
optimizer = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=1e-2)
for epoch in range(6):
    for idx in torch.randperm(160).split(20):
        features = embed(x[idx])
        loss = F.cross_entropy(head(features), y[idx]) + 0.05 * centre_loss(features, y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", round(loss.item(), 4))
