"""encoder and decoder layers are kept in lists inside a dict, two levels away from registration."""
import torch
from torch import nn

torch.manual_seed(66)


class UNet(nn.Module):
    def __init__(self, sizes=(10, 8, 4)):
        super().__init__()
        down = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
        up = [nn.Linear(b, a) for a, b in zip(sizes, sizes[1:])][::-1]
        self.paths = {"down": down, "up": up}  # EXPECT: parameter-unregistered
        self.last = nn.Linear(sizes[0], sizes[0])

    def forward(self, x):
        skips = []
        for layer in self.paths["down"]:
            skips.append(x)
            x = torch.tanh(layer(x))
        for layer in self.paths["up"]:
            x = torch.tanh(layer(x)) + skips.pop()
        return self.last(x)


model = UNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)  # MAY: parameter-not-optimized
clean = torch.randn(128, 3) @ torch.randn(3, 10)
for step in range(60):
    batch = clean[torch.randint(0, 128, (32,))]
    restored = model(batch + 0.2 * torch.randn_like(batch))
    loss = nn.functional.mse_loss(restored, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
print("first layer's gradient", model.paths["down"][0].weight.grad.norm().item())
