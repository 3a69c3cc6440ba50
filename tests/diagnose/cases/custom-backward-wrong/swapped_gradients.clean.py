"""Legitimate twin: the order of forward's arguments; absolute value with its kink at zero."""
import torch
from torch import nn

torch.manual_seed(85)


class Modulate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, signal, gain):
        ctx.save_for_backward(signal, gain)
        return signal.abs() * gain.exp()

    @staticmethod
    def backward(ctx, grad_out):
        signal, gain = ctx.saved_tensors
        grad_signal = grad_out * signal.sign() * gain.exp()
        grad_gain = grad_out * signal.abs() * gain.exp()
        return grad_signal, grad_gain


modulate = Modulate.apply


class FiLM(nn.Module):
    def __init__(self, dim=10):
        super().__init__()
        self.signal = nn.Linear(6, dim)
        self.gain = nn.Linear(3, dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, x, condition):
        return self.out(modulate(self.signal(x), 0.3 * self.gain(condition)))


model = FiLM()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(50):
    x, condition = torch.randn(32, 6), torch.rand(32, 3)
    target = torch.stack([x[:, 0] * condition[:, 0], x[:, 1]], dim=1)
    loss = (model(x, condition) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
