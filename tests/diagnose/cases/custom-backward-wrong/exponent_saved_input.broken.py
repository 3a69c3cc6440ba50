"""exp by hand with setup_context: the input is saved where the output is needed."""

import torch
from torch import nn

torch.manual_seed(42)


class Exponential(torch.autograd.Function):
    @staticmethod
    def forward(x, scale):
        return torch.exp(scale * x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, scale = inputs
        ctx.scale = scale
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad):  # EXPECT: custom-backward-wrong
        (kept,) = ctx.saved_tensors
        return grad * kept * ctx.scale, None


class PoissonRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 1)

    def forward(self, x):
        return Exponential.apply(self.linear(x), 0.5).squeeze(1)


def negative_log_likelihood(rate, counts):
    return (rate - counts * rate.log()).mean()


x = torch.randn(64, 4)
counts = torch.poisson(torch.exp(0.4 * x[:, 0]))
model = PoissonRegression()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2)
for epoch in range(10):
    loss = negative_log_likelihood(model(x), counts)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
