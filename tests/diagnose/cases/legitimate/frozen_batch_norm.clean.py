"""Must stay silent: fine-tuning with batch-norm layers put to eval() after every model.train()."""
import torch
from torch import nn

torch.manual_seed(116)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6)
        self.conv2, self.bn2 = nn.Conv2d(6, 6, 3, padding=1), nn.BatchNorm2d(6)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.relu(self.bn2(self.conv2(x)))
        return self.fc(self.drop(x.mean((2, 3))))


def freeze_batch_norm(module):
    if isinstance(module, nn.BatchNorm2d):
        module.eval()


def run(model, x, y, epochs, frozen, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for _ in range(epochs):
        model.train()
        if frozen:
            model.apply(freeze_batch_norm)
        for rows in torch.randperm(len(x)).split(16):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = (model(x).argmax(1) == y).float().mean().item()
    print("frozen" if frozen else "free", round(loss.item(), 4), round(accuracy, 3))


x = torch.randn(96, 1, 6, 6)
y = (x[:, 0, :3].mean((1, 2)) > 0).long()
model = Net()
run(model, x, y, epochs=4, frozen=False, lr=0.05)
run(model, x.flip(-1), y, epochs=6, frozen=True, lr=0.01)
