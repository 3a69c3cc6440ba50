"""Legitimate twin: truncated back-propagation, the carried hidden state is detached; the chunks grow longer on purpose."""
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
optimizer = torch.optim.SGD(rnn.parameters(), lr=0.02)
start = 0
for step in range(30):
    length = 4 + step // 3
    chunk = wave[start:start + length + 1]
    start += length
    output, hidden = rnn(chunk[:-1], hidden.detach())
    loss = nn.functional.mse_loss(output, chunk[1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print("step", step, "loss", round(loss.item(), 4))
