"""A Function with two outputs forgets the gradient of the second."""

import torch
from torch import nn

torch.manual_seed(43)


class SplitSign(torch.autograd.Function):
    """The positive and the negative part of a value."""

    @staticmethod
    def forward(ctx, x: torch.Tensor):
        ctx.positive = x > 0
        return x.clamp(min=0), (-x).clamp(min=0)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_up, grad_down):  # EXPECT: custom-backward-wrong
        up = torch.where(ctx.positive, grad_up, torch.zeros_like(grad_up))
        return up


class Concatenated(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 4, 3)
        self.head = nn.Linear(8, 2)

    def forward(self, signal):
        up, down = SplitSign.apply(self.conv(signal))
        return self.head(torch.cat([up, down], dim=1).mean(2))


signals = torch.randn(24, 2, 9)
signals[:, :, :4] = 0.0
labels = (signals[:, 0].sum(1) > 0).long()
model = Concatenated()
nn.init.zeros_(model.conv.bias)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(10):
    loss = nn.functional.cross_entropy(model(signals), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
