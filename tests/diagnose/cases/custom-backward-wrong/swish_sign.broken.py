"""A memory-saving Swish with a sign slip in its derivative: s * (1 - x * (1 - s))."""
import torch
from torch import nn
from torch.autograd.function import once_differentiable

torch.manual_seed(84)


class SwishFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):  # EXPECT: custom-backward-wrong
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad * s * (1 - x * (1 - s))



class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 8, 3, padding=1)
        self.head = nn.Linear(8, 1)

    def forward(self, series):
        h = SwishFunction.apply(self.conv(series))
        return self.head(h.mean(-1))


model = Net()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
for step in range(40):
    series = torch.randn(16, 2, 12)
    target = series[:, :1].mean(-1) - series[:, 1:].std(-1)
    loss = nn.functional.mse_loss(model(series), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
