"""A spiking layer keeps its membrane potential between batches; every backward runs through all of them (snntorch forum)."""
import torch
from torch import nn

torch.manual_seed(21)


class Leaky(nn.Module):
    def __init__(self, inputs, outputs, beta=0.8):
        super().__init__()
        self.fc = nn.Linear(inputs, outputs)
        self.beta = beta
        self.mem = None

    def reset(self):
        self.mem = None

    def forward(self, current):
        drive = self.fc(current)
        if self.mem is None:
            self.mem = torch.zeros_like(drive)
        self.mem = self.beta * self.mem + drive  # EXPECT: graph-deepens
        return torch.sigmoid(4.0 * (self.mem - 1.0))


class Readout(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaky = Leaky(10, 4)

    def forward(self, spikes):
        return torch.stack([self.leaky(frame) for frame in spikes]).mean(0)


net = Readout()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
patterns = (torch.rand(4, 10) > 0.5).float()
for step in range(25):
    labels = torch.randint(0, 4, (16,))
    spikes = (torch.rand(5, 16, 10) < 0.2 + 0.6 * patterns[labels]).float()
    rates = net(spikes)
    loss = nn.functional.mse_loss(rates, nn.functional.one_hot(labels, 4).float())
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
print("loss", round(loss.item(), 4))
