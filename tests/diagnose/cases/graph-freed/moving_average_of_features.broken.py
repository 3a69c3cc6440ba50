"""the moving average direction of the features carries the graphs of earlier steps, which are freed."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(86)


class Tracker:
    def __init__(self, dim, momentum=0.9):
        self.mean = torch.zeros(dim)
        self.momentum = momentum

    def update(self, features):
        self.mean = F.normalize(self.momentum * self.mean + (1 - self.momentum) * features.mean(0), dim=0)  # EXPECT-ERROR: graph-freed
        return self.mean


encoder = nn.LSTM(3, 8, batch_first=True)
classify = nn.Linear(8, 2)
tracker = Tracker(8)
optimizer = torch.optim.SGD([*encoder.parameters(), *classify.parameters()], lr=0.1)
x = torch.randn(80, 5, 3)
y = (x[:, -1].sum(1) > 0).long()
for step in range(40):
    rows = torch.randint(0, 80, (16,))
    _, (h, _) = encoder(x[rows])
    features = h[-1]
    centre = tracker.update(features)
    loss = F.cross_entropy(classify(features), y[rows]) + 0.01 * (features - centre).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # ALSO: graph-freed
    optimizer.step()
    if step % 10 == 9:
        print(step, "loss", round(loss.item(), 4))
