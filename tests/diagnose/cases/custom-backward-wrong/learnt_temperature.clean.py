"""Legitimate twin: the chain rule with the temperature."""
import torch
from torch import nn

torch.manual_seed(17)


class ScaledTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, temperature):
        out = torch.tanh(x / temperature)
        ctx.save_for_backward(x, out, temperature)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, out, temperature = ctx.saved_tensors
        inner = grad * (1 - out * out)
        return inner / temperature, -(inner * x).sum() / temperature**2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)
        self.out = nn.Linear(8, 1)
        self.temperature = nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return self.out(ScaledTanh.apply(self.fc(x), self.temperature))


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(20):
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
