"""Late: after 300 steps a validation leaves the model in eval mode."""
import torch
from torch import nn

torch.manual_seed(8)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), 0.01)
for step in range(420):
    x = torch.randn(8, 5)
    if step == 300:
        net.eval()  # EXPECT: training-in-eval-mode
        with torch.no_grad():
            print(f"{net(x).mean().item():.2f}")
    loss = (net(x) - x[:, :1]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()  # ALSO: training-in-eval-mode
print(f"{loss.item():.3f}")
