"""a hand-written RNN writes its states into one buffer whose rows earlier steps saved for their backward."""
import torch
from torch import nn

torch.manual_seed(49)


class ElmanRNN(nn.Module):
    def __init__(self, inputs=2, hidden=10):
        super().__init__()
        self.hidden = hidden
        self.from_input = nn.Linear(inputs, hidden)
        self.recurrent = nn.Parameter(torch.randn(hidden, hidden) / hidden**0.5)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        length, batch, _ = x.shape
        states = torch.zeros(length + 1, batch, self.hidden)
        for t in range(length):
            pre = self.from_input(x[t]) + states[t] @ self.recurrent  # ALSO: saved-value-overwritten
            states[t + 1] = torch.tanh(pre)  # EXPECT-ERROR: saved-value-overwritten
        return self.out(states[1:])


def main():
    x = torch.randn(6, 80, 2)
    y = x.cumsum(0).sum(2, keepdim=True) / 4
    model = ElmanRNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(40):
        columns = torch.randperm(80)[:20]
        loss = nn.functional.mse_loss(model(x[:, columns]), y[:, columns])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
