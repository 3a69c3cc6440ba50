"""The scheduler's factor is above one (1.03 per step): after a calm start the recurrent net blows up."""
import torch
from torch import nn

torch.manual_seed(55)


class Tagger(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.rnn = nn.RNN(3, dim, batch_first=True, nonlinearity="relu")
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.head(states).squeeze(-1)


def lengths(n):
    for i in range(n):
        yield 8 + i % 5


model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.005)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=1.03)
for step, length in enumerate(lengths(110)):
    x = torch.randn(16, length, 3)
    y = x[..., 0].cumsum(1)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()  # EXPECT: gradient-spikes
    optimizer.step()
    scheduler.step()
    if step % 20 == 19:
        print(step, loss.item())
