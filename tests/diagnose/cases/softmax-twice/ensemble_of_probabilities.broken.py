"""the members' probabilities are averaged and clamped, and then cross entropy is taken as if they were scores."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(66)

members = nn.ModuleList(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)) for _ in range(3))
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 1.0]))
optimizer = torch.optim.Adam(members.parameters(), lr=1e-2)
x = torch.randn(150, 6)
y = x[:, :3].argmax(1)
for step in range(40):
    rows = torch.randint(0, 150, (25,))
    votes = torch.stack([F.softmax(member(x[rows]), dim=1) for member in members])  # ALSO: softmax-twice
    mean = votes.mean(0).clamp(1e-6, 1.0)
    loss = criterion(mean, y[rows])  # EXPECT: softmax-twice
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
