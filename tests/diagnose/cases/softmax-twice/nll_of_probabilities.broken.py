"""NLLLoss wants log-probabilities but gets the output of softmax: the loss is a negative mean probability."""
import torch
from torch import nn

torch.manual_seed(23)


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.pool = nn.AvgPool2d(4)
        self.fc = nn.Linear(32, 3)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        h = self.pool(torch.relu(self.conv(x))).flatten(1)
        return self.softmax(self.fc(h))  # ALSO: softmax-twice


y = torch.arange(150) % 3
x = torch.randn(150, 1, 8, 8) + 0.5 * y.view(-1, 1, 1, 1)
model = DigitNet()
loss_fn = nn.NLLLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(5):
    for idx in torch.randperm(150).split(15):
        probabilities = model(x[idx])
        loss = loss_fn(probabilities, y[idx])  # EXPECT: softmax-twice
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", round(loss.item(), 4))
