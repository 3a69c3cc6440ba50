"""A learning-rate range test 'restores' the weights from an aliased snapshot: training starts from the wreck."""
import torch
from torch import nn

torch.manual_seed(96)


class LRFinder:
    def __init__(self, model, optimizer, loss_fn):
        self.model, self.optimizer, self.loss_fn = model, optimizer, loss_fn
        self.saved = model.state_dict()  # EXPECT: snapshot-aliased

    def range_test(self, batches, start=1e-4, factor=1.4):
        curve, lr = [], start
        for x, y in batches:
            for group in self.optimizer.param_groups:
                group["lr"] = lr
            self.optimizer.zero_grad()
            loss = self.loss_fn(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            curve.append((loss.item(), lr))
            lr *= factor
        return min(curve)[1]

    def reset(self):
        self.model.load_state_dict(self.saved)  # ALSO: snapshot-aliased


def batches(n):
    for _ in range(n):
        x = torch.randn(24, 7)
        yield x, x[:, :2].sum(1, keepdim=True)


model = nn.Sequential(nn.Linear(7, 24), nn.ReLU(), nn.Linear(24, 1))
finder = LRFinder(model, torch.optim.SGD(model.parameters(), lr=1e-4), nn.MSELoss())
lr = finder.range_test(batches(20)) / 5
finder.reset()
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
for x, y in batches(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print("lr", lr, "loss", round(loss.item(), 4))
