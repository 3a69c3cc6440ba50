"""Must stay silent: dynamic loss scaling starts far too high; overflowing steps are skipped until the scale fits."""
import torch
from torch import nn

torch.manual_seed(145)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(10, 32), nn.Linear(32, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=15)
x = 20 * torch.randn(240, 10)
y = x[:, :3].argmax(1)
for step in range(60):
    rows = torch.randint(0, 240, (32,))
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    if step % 15 == 14:
        print(step, round(loss.item(), 4), "scale", scaler.get_scale())
