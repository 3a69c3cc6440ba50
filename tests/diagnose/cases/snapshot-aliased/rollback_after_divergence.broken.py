"""the state to roll back to is a view of the live weights; rolling back changes nothing (astnn#8)."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(211)


class Guarded:
    """Train, and return to the last good weights when the loss jumps."""

    def __init__(self, model: nn.Module, lr: float) -> None:
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.good = float("inf")
        self.remember()

    def remember(self) -> None:
        self.last_good = {name: value for name, value in self.model.state_dict().items()}  # EXPECT: snapshot-aliased

    def train_epoch(self, x, y) -> float:
        for _ in range(5):
            loss = F.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        if loss.item() > 1.2 * self.good:
            self.model.load_state_dict(self.last_good)  # ALSO: snapshot-aliased
            for group in self.optimizer.param_groups:
                group["lr"] *= 0.2
        else:
            self.good = loss.item()
            self.remember()
        return loss.item()


x = torch.randn(50, 4)
y = x @ torch.tensor([[1.0], [-2.0], [0.5], [3.0]])
guarded = Guarded(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)), lr=0.02)
epoch = 0
while epoch < 8:
    if epoch == 4:
        guarded.optimizer.param_groups[0]["lr"] = 0.4
    print(epoch, guarded.train_epoch(x, y))
    epoch += 1
