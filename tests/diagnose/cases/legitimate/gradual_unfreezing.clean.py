"""Must stay silent: a body that is frozen at first and joins the optimizer as a new group, with a rate of its own."""

import torch
from torch import nn

torch.manual_seed(63)


class Finetuner:
    def __init__(self, body, head):
        self.body, self.head = body, head
        self.body.requires_grad_(False)
        self.optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
        self.frozen = list(body.children())

    def on_epoch_start(self, epoch):
        if epoch and epoch % 2 == 0 and self.frozen:
            layer = self.frozen.pop()
            while self.frozen and not any(True for _ in layer.parameters()):
                layer = self.frozen.pop()
            layer.requires_grad_(True)
            self.optimizer.add_param_group({"params": layer.parameters(), "lr": 1e-3})

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            self.on_epoch_start(epoch)
            for x, y in batches:
                loss = nn.functional.cross_entropy(self.head(self.body(x)), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(epoch, len(self.optimizer.param_groups), loss.item())


body = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
x = torch.randn(80, 9)
y = (x[:, 0] > x[:, 1]).long()
Finetuner(body, nn.Linear(16, 2)).fit(list(zip(x.split(16), y.split(16))), epochs=8)
