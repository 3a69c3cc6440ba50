"""from update 330 on a penalty is added, as a number: the second phase trains what the first one did."""
import torch
from torch import nn

torch.manual_seed(14)
model = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def confidence(logits):
    return (logits.softmax(1) ** 2).sum(1).mean()


for update in range(420):
    x = torch.randn(12, 5)
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, x[:, :3].argmax(1))
    if update >= 330:
        second = model(x + 0.1 * torch.randn_like(x))
        penalty = float(confidence(second))  # EXPECT: path-cut
        loss = loss + 0.3 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
