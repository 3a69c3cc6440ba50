"""Must stay silent: a curriculum of longer and longer sequences; graphs deepen because the input grows."""
import torch
from torch import nn

torch.manual_seed(143)


class Adder(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.cell = nn.GRUCell(1, hidden)
        self.read = nn.Linear(hidden, 1)
        self.hidden = hidden

    def forward(self, sequence):
        h = torch.zeros(len(sequence), self.hidden)
        for value in sequence.unbind(1):
            h = self.cell(value.unsqueeze(1), h)
        return self.read(h).squeeze(1)


model = Adder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(60):
    length = 2 + step // 4
    sequence = torch.rand(24, length)
    loss = nn.functional.mse_loss(model(sequence), sequence.mean(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print("length", length, "loss", round(loss.item(), 5))
