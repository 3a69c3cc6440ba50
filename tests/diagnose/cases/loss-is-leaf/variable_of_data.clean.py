"""Legitimate twin: old-style Variables hold the inputs only; loss.data is read for printing."""
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(35)


class LeNet(nn.Module):
    def __init__(self):
        super(LeNet, self).__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.fc1 = nn.Linear(4 * 3 * 3, 3)

    def forward(self, x):
        x = nn.functional.avg_pool2d(torch.tanh(self.conv1(x)), 2)
        return self.fc1(x.view(x.size(0), -1))


def main():
    images = torch.randn(90, 1, 8, 8)
    labels = images.view(90, -1)[:, :3].argmax(1)
    net = LeNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adadelta(net.parameters(), lr=1.0)
    for epoch in range(6):
        for start in range(0, 90, 15):
            inputs = Variable(images[start:start + 15])
            targets = Variable(labels[start:start + 15])
            optimizer.zero_grad()
            loss = criterion(net(inputs), targets)
            loss.backward()
            optimizer.step()
        print("epoch %d loss %.4f" % (epoch, loss.data))


if __name__ == "__main__":
    main()
