"""a focal-loss module builds on reduction="none" and never reduces, so backward() gets one loss per sample."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        ce = F.cross_entropy(logits, target, reduction="none")
        p_true = torch.exp(-ce)
        return (1 - p_true) ** self.gamma * ce  # EXPECT-ERROR: loss-not-scalar


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.head = nn.Linear(8 * 4 * 4, 3)

    def forward(self, x):
        x = F.leaky_relu(self.conv1(x))
        x = F.leaky_relu(self.conv2(x))
        return self.head(x.flatten(1))


x = torch.randn(192, 1, 8, 8)
y = (x.mean((1, 2, 3)) > 0.0).long() + (x[:, 0, 0, 0] > 1.0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = SmallCNN()
criterion = FocalLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(3):
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(net(images), labels)
        loss.backward()  # ALSO: loss-not-scalar
        optimizer.step()
    print("epoch", epoch, "hardest", [round(v, 3) for v in loss.detach().topk(3).values.tolist()])
