"""Legitimate twin: the prenet's dropout is literally training=True, in testing as well, as Tacotron's is on purpose."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(31)


class Prenet(nn.Module):
    def __init__(self, size, p=0.5):
        super().__init__()
        self.fc, self.p = nn.Linear(size, 24), p

    def forward(self, x):
        return F.dropout(torch.relu(self.fc(x)), self.p, training=True)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.prenet = Prenet(4)
        self.rnn = nn.RNN(24, 24, batch_first=True)
        self.out = nn.Linear(24, 4)

    def forward(self, frames):
        return self.out(self.rnn(self.prenet(frames))[0])


def main():
    t = torch.arange(400).view(40, 10) / 4
    frames = torch.stack([t.sin(), t.cos(), (2 * t).sin(), (2 * t).cos()], 2)
    model = Decoder()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    for step in range(40):
        model.train()
        batch = frames[torch.randint(0, 32, (8,))]
        loss = F.l1_loss(model(batch[:, :-1]), batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            model.eval()
            with torch.inference_mode():
                held_out = F.l1_loss(model(frames[32:, :-1]), frames[32:, 1:]).item()
            print("step", step, "loss", round(loss.item(), 4), "held-out", round(held_out, 4))


if __name__ == "__main__":
    main()
