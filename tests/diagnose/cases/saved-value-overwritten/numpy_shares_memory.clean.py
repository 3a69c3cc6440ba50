"""Legitimate twin: the NumPy view is written after backward(), when nothing needs the values any more."""
import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Linear(15, 8)
        self.up = nn.Linear(8, 15)

    def forward(self, x, off=()):
        code = torch.tanh(self.down(x))
        return self.up(code), code


def train(model, data, steps=40):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    for step in range(steps):
        batch = data[torch.randint(0, len(data), (25,))]
        off = [step % 8, (step + 3) % 8]
        rebuilt, code = model(batch, off)
        loss = nn.functional.mse_loss(rebuilt, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        code.detach().numpy()[:, off] = 0.0
        if step % 10 == 9:
            print(step, "loss", round(loss.item(), 4), "activity", round(code.abs().mean().item(), 4))


if __name__ == "__main__":
    torch.manual_seed(67)
    train(Autoencoder(), torch.randn(150, 5) @ torch.randn(5, 15) / 3)
