"""Must stay silent: every layer is trained by a loss of its own (forward-forward); between layers the graph is cut on purpose."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(57)


class GreedyLayer(nn.Module):
    def __init__(self, inputs, outputs, threshold=1.0):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.threshold = threshold
        self.optimizer = torch.optim.Adam(self.parameters(), lr=0.01)

    def forward(self, x):
        x = x / (x.norm(dim=1, keepdim=True) + 1e-4)
        return torch.relu(self.linear(x))

    def train_on(self, positive, negative):
        good = self(positive).pow(2).mean(1)
        bad = self(negative).pow(2).mean(1)
        loss = F.softplus(torch.cat([self.threshold - good, bad - self.threshold])).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return self(positive).detach(), self(negative).detach(), loss.item()


def labelled(x, label):
    x = x.clone()
    x[:, :3] = F.one_hot(label, 3).float() * 2
    return x


layers = [GreedyLayer(12, 20), GreedyLayer(20, 20)]
x = torch.randn(60, 12)
label = (x[:, 5] > 0.4).long() + (x[:, 6] > 0.4).long()
for epoch in range(30):
    positive = labelled(x, label)
    negative = labelled(x, (label + torch.randint(1, 3, label.shape)) % 3)
    for layer in layers:
        positive, negative, loss = layer.train_on(positive, negative)
print("loss of the last layer", loss)
