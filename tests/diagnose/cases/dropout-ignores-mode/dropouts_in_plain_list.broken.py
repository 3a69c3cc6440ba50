"""the dropout layers live in a Python list: eval() does not reach them, they stay in train mode for good."""
import torch
from torch import nn

torch.manual_seed(21)


class MLP(nn.Module):
    def __init__(self, widths=(8, 32, 32)):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.drops = [nn.Dropout(0.3) for _ in self.layers]  # MAY: parameter-unregistered
        self.out = nn.Linear(widths[-1], 2)

    def forward(self, x):
        for layer, drop in zip(self.layers, self.drops):
            x = drop(torch.relu(layer(x)))  # EXPECT: dropout-ignores-mode
        return self.out(x)


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
model.eval()
with torch.no_grad():
    first, second = model(x[160:]).softmax(1), model(x[160:]).softmax(1)
print("loss", loss.item(), "two test passes differ by", (first - second).abs().max().item())
