"""two players take turns of three rounds; both optimizers step in every round, one of them on nothing."""
import torch
from torch import nn

torch.manual_seed(304)
players = [nn.Linear(4, 1), nn.Linear(4, 1)]
optimizers = [torch.optim.Adam(players[0].parameters()), torch.optim.SGD(players[1].parameters(), lr=0.1)]
x = torch.randn(40, 4)
for round_ in range(24):
    turn = round_ // 3 % 2
    for optimizer in optimizers:
        optimizer.zero_grad(set_to_none=True)
    loss = (players[turn](x) - x[:, :1]).pow(2).mean()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
print(round(loss.item(), 4))
