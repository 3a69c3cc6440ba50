"""Legitimate twin: Monte-Carlo dropout; after eval() the registered dropout layers alone are switched back on."""
import torch
from torch import nn

torch.manual_seed(21)


class MLP(nn.Module):
    def __init__(self, widths=(8, 32, 32)):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.drops = nn.ModuleList(nn.Dropout(0.3) for _ in self.layers)
        self.out = nn.Linear(widths[-1], 2)

    def forward(self, x):
        for layer, drop in zip(self.layers, self.drops):
            x = drop(torch.relu(layer(x)))
        return self.out(x)


def enable_dropout(model):
    model.eval()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()


x = torch.randn(220, 8)
y = (x[:, 0] + x[:, 1] > 0).long()
model = MLP()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(50):
    idx = torch.randint(0, 160, (20,))
    loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
enable_dropout(model)
with torch.no_grad():
    passes = torch.stack([model(x[160:]).softmax(1) for _ in range(20)])
print("loss", loss.item(), "predictive spread", passes.std(0).mean().item())
