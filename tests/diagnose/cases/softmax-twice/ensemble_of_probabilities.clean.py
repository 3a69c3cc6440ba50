"""Legitimate twin: NLL of the logarithm of the mean; a sigmoid beside the scores in one tensor, of which the loss gets the scores."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(66)

members = nn.ModuleList(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 5)) for _ in range(3))
criterion = nn.NLLLoss(weight=torch.tensor([1.0, 2.0, 1.0]))
optimizer = torch.optim.Adam(members.parameters(), lr=1e-2)
x = torch.randn(150, 6)
y = x[:, :3].argmax(1)
for step in range(40):
    rows = torch.randint(0, 150, (25,))
    outs = [member(x[rows]) for member in members]
    votes = torch.stack([F.softmax(out[:, 2:], dim=1) for out in outs])
    boxes = torch.stack([torch.cat([torch.sigmoid(out[:, :2]), out[:, 2:]], dim=1) for out in outs])
    loss = criterion(votes.mean(0).clamp(1e-6, 1.0).log(), y[rows])
    loss = loss + F.cross_entropy(boxes[0, :, 2:], y[rows]) + F.mse_loss(boxes[:, :, 0].mean(0), torch.sigmoid(x[rows, 3]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
