"""a stateful RNN carries its hidden state into the next chunk, kept going with retain_graph=True and updates through .data."""
import torch
from torch import nn

torch.manual_seed(10)


class RNN(nn.Module):
    def __init__(self, size=12):
        super().__init__()
        self.i2h = nn.Linear(1 + size, size)
        self.i2o = nn.Linear(size, 1)

    def forward(self, inputs, hidden):
        outputs = []
        for x in inputs:
            hidden = torch.tanh(self.i2h(torch.cat([x, hidden])))
            outputs.append(self.i2o(hidden))
        return torch.stack(outputs), hidden


wave = torch.sin(torch.arange(600) / 5).unsqueeze(1)
rnn = RNN()
hidden = torch.zeros(12)
start = 0
for step in range(30):
    length = 4
    chunk = wave[start:start + length + 1]
    start += length
    output, hidden = rnn(chunk[:-1], hidden)  # EXPECT: graph-deepens
    loss = nn.functional.mse_loss(output, chunk[1:])
    rnn.zero_grad()
    loss.backward(retain_graph=True)
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-0.02)  # MAY: saved-value-overwritten
    if step % 10 == 9:
        print("step", step, "loss", round(loss.item(), 4))
