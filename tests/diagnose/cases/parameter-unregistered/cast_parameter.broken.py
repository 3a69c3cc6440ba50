"""nn.Parameter(...).double() is a copy with a history and no parameter, so the gain is never trained."""
import torch
from torch import nn

torch.manual_seed(38)


class Calibrator(nn.Module):
    def __init__(self, sensors):
        super().__init__()
        self.mix = nn.Linear(sensors, sensors).double()
        self.gain = nn.Parameter(torch.ones(sensors)).double()  # EXPECT: parameter-unregistered

    def forward(self, reading):
        return self.gain * torch.tanh(self.mix(reading))


def fit(model, reading, truth):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # MAY: parameter-not-optimized
    for step in range(60):
        rows = torch.randint(0, len(reading), (20,))
        loss = nn.functional.l1_loss(model(reading[rows]), truth[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(step, "l1", round(loss.item(), 4))


reading = torch.randn(100, 5, dtype=torch.float64)
truth = 3 * torch.tanh(reading)
calibrator = Calibrator(5)
fit(calibrator, reading, truth)
print([name for name, _ in calibrator.named_parameters()])
print("gain", calibrator.gain.tolist())
