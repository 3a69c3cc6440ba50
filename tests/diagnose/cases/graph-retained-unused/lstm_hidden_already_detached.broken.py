"""the LSTM's carried state is detached already, but the retain_graph=True of an earlier fix was left in place."""
import torch
from torch import nn

torch.manual_seed(12)


class StatefulLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, 16, batch_first=True)
        self.out = nn.Linear(16, 2)
        self.state = None

    def forward(self, x):
        out, state = self.lstm(x, self.state)
        self.state = tuple(s.detach() for s in state)
        return self.out(out)


def fit(model, chunks, epochs=4):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        model.state = None
        for chunk in chunks:
            loss = nn.functional.mse_loss(model(chunk[:, :-1]), chunk[:, 1:])
            optimizer.zero_grad()
            loss.backward(retain_graph=True)  # EXPECT: graph-retained-unused
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        print("epoch", epoch, "loss", round(loss.item(), 4))


t = torch.arange(161) / 6
series = torch.stack([t.sin(), t.cos()], 1)
chunks = [series[i:i + 17].unsqueeze(0) for i in range(0, 160, 16)]
fit(StatefulLSTM(), chunks)
