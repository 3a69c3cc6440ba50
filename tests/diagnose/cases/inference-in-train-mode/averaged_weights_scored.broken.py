"""the averaged weights are loaded and scored under no_grad; eval() is missing, so dropout and batch statistics are at work."""
import torch
from torch import nn

torch.manual_seed(32)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.bn = nn.Linear(9, 24), nn.BatchNorm1d(24)
        self.drop, self.fc2 = nn.Dropout(0.3), nn.Linear(24, 3)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.bn(self.fc1(x)))))


@torch.no_grad()
def score(model, x, y):
    return (model(x).argmax(1) == y).float().mean().item()  # EXPECT: inference-in-train-mode


x = torch.randn(240, 9) + 1
y = x[:, :3].argmax(1)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
average = {name: p.detach().clone() for name, p in model.named_parameters()}
for step in range(50):
    idx = torch.randint(0, 160, (20,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x[idx]), y[idx]).backward()
    optimizer.step()
    for name, p in model.named_parameters():
        average[name].lerp_(p.detach(), 0.1)
model.load_state_dict(average, strict=False)
print("accuracy of the average", score(model, x[160:], y[160:]))
