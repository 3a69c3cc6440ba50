"""the counterpart hook is called in a finally clause."""
import torch
import torch.nn.functional as F
from torch import nn


class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Sigmoid(), nn.Linear(16, 1))

    def step(self, batch):
        return F.mse_loss(self.net(batch), batch.sum(1, keepdim=True))

    def on_validation_start(self):
        self.eval()
        torch.set_grad_enabled(False)

    def on_validation_end(self):
        torch.set_grad_enabled(True)
        self.train()


class Trainer:
    limit = 2

    def fit(self, module, train, val, epochs=3):
        optimizer = torch.optim.Adagrad(module.parameters(), lr=0.05)
        for epoch in range(epochs):
            for batch in train:
                optimizer.zero_grad()
                loss = module.step(batch)
                loss.backward()
                optimizer.step()
            print(epoch, round(loss.item(), 4), round(self.validate(module, val), 4))

    def validate(self, module, val):
        total = 0.0
        module.on_validation_start()
        try:
            for number, batch in enumerate(val):
                if number == self.limit:
                    return total / self.limit
                total += module.step(batch).item()
            return total / len(val)
        finally:
            module.on_validation_end()


torch.manual_seed(191)
data = torch.randn(60, 4)
Trainer().fit(Module(), data[:30].split(10), data[30:].split(5))
