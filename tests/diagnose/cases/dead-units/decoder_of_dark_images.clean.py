"""Adam with a learning rate of 0.002."""

import torch
from torch import nn

RATE = 0.002


def network() -> nn.Module:
    layers = [nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(inplace=True)]
    layers += [nn.Conv2d(16, 4, 1), nn.Flatten(), nn.Linear(4 * 16, 2)]
    return nn.Sequential(*layers)


def batches(count: int):
    for _ in range(count):
        image = torch.rand(16, 1, 8, 8)
        bright = torch.randint(0, 2, (16,))
        yield image + 0.2 * bright.view(-1, 1, 1, 1), bright


if __name__ == "__main__":
    torch.manual_seed(33)
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    for number, (image, bright) in enumerate(batches(150)):
        scores = net(image)
        loss = nn.functional.cross_entropy(scores, bright)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if number % 50 == 0:
            print(number, loss.item())
