"""Legitimate twin: evaluate() finds out in which mode the CNN was and restores it."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AvgPool2d(2))
        self.drop = nn.Dropout2d(0.2)
        self.fc = nn.Linear(8 * 16, 3)

    def forward(self, x):
        return self.fc(self.drop(self.features(x)).flatten(1))


@torch.no_grad()
def evaluate(model, x, y):
    was_training = model.training
    model.train(False)
    accuracy = (model(x).argmax(1) == y).float().mean().item()
    model.train(was_training)
    return accuracy


y = torch.arange(240) % 3
x = torch.randn(240, 1, 8, 8) + y.view(-1, 1, 1, 1) * 0.4
model = CNN()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
model.train()
for iteration in range(60):
    idx = torch.randint(0, 192, (24,))
    loss = F.cross_entropy(model(x[idx]), y[idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if iteration % 15 == 14:
        print(iteration, "accuracy", evaluate(model, x[192:], y[192:]))
print("batches seen by batch-norm", int(model.features[1].num_batches_tracked))
