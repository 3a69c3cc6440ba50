"""forward() applies layer2 twice (a copied line), so layer3 is owned by the optimizer and never reached."""
import torch
from torch import nn

torch.manual_seed(56)


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layer1 = nn.Linear(6, width)
        self.layer2 = nn.Linear(width, width)
        self.layer3 = nn.Linear(width, width)  # ALSO: parameter-not-optimized
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.tanh(self.layer1(x))
        x = torch.tanh(self.layer2(x))
        x = torch.tanh(self.layer2(x))
        return self.out(x)


model = Net()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)  # EXPECT: parameter-not-optimized
x = torch.randn(128, 6)
targets = torch.stack([x[:, 0] * x[:, 1], x[:, 2].abs(), x[:, 3:].sum(1)])
for step in range(60):
    task = 0
    rows = torch.randperm(128)[:32]
    prediction = model(x[rows]).squeeze(1)
    loss = nn.functional.huber_loss(prediction, targets[task][rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        print(step, "loss", round(loss.item(), 4))
