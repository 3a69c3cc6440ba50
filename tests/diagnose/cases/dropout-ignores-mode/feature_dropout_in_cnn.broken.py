"""F.dropout2d and no training argument: whole channels go missing at test time (C46)."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(50)


class Net(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 12, 3)
        self.fc = nn.Linear(12 * 4, classes)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.dropout2d(F.relu(self.conv2(x)), 0.3)  # EXPECT: dropout-ignores-mode
        return F.log_softmax(self.fc(F.max_pool2d(x, 4).flatten(1)), dim=1)


def train(model, images, labels, optimizer):
    model.train()
    for rows in torch.randperm(len(images)).split(32):
        optimizer.zero_grad()
        loss = F.nll_loss(model(images[rows]), labels[rows])
        loss.backward()
        optimizer.step()


def test(model, images, labels):
    model.eval()
    with torch.no_grad():
        output = model(images)
        return F.nll_loss(output, labels, reduction="sum").item() / len(images)


images = torch.randn(192, 1, 12, 12)
labels = images.flatten(1)[:, :48].reshape(-1, 3, 16).sum(2).argmax(1)
model = Net()
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
for epoch in range(3):
    train(model, images[:160], labels[:160], optimizer)
    print("epoch", epoch, "test loss", round(test(model, images[160:], labels[160:]), 4))
    scheduler.step()
