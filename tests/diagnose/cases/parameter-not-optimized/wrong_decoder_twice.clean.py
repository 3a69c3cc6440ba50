"""forward() calls both decoders."""

import torch
from torch import nn

torch.manual_seed(11)


class Unmixer(nn.Module):
    def __init__(self, width: int = 10, hidden: int = 18):
        super().__init__()
        self.encoder = nn.LSTM(width, hidden, batch_first=True)
        self.voice = nn.Linear(hidden, width)
        self.music = nn.Linear(hidden, width)

    def forward(self, mixture):
        states, _ = self.encoder(mixture)
        return self.voice(states), self.music(states)


def train(steps: int = 45) -> float:
    model = Unmixer()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    step = 0
    while True:
        voice = torch.randn(6, 8, 10).cumsum(1)
        music = torch.randn(6, 8, 10)
        first, second = model(voice + music)
        loss = nn.functional.l1_loss(first, voice) + nn.functional.l1_loss(second, music)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step == steps:
            return loss.item()


if __name__ == "__main__":
    print("loss", train())
