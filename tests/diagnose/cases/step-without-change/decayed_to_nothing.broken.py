"""StepLR was given gamma=0 by mistake: from the second epoch on the learning rate is 0."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(62)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv1d(1, 4, 4, stride=2, padding=1)
        self.up = nn.ConvTranspose1d(4, 1, 4, stride=2, padding=1)

    def forward(self, x):
        return self.up(torch.tanh(self.down(x)))


t = torch.linspace(0, 6.28, 16)
waves = torch.sin(t * (1 + 2 * torch.rand(96, 1)) + torch.rand(96, 1)).unsqueeze(1)
loader = DataLoader(TensorDataset(waves), batch_size=16, shuffle=True)
model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0)
for epoch in range(8):
    total = 0.0
    for (batch,) in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(batch), batch)
        loss.backward()
        optimizer.step()  # EXPECT: step-without-change
        total += loss.item()
    scheduler.step()
    print("epoch", epoch, "loss", round(total / len(loader), 5))
