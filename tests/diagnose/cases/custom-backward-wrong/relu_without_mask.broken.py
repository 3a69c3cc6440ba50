"""A custom squared ReLU forgets in backward that the negative side is flat."""
import torch
from torch import nn

torch.manual_seed(86)


class SquaredReLU(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.clamp(min=0) ** 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):  # EXPECT: custom-backward-wrong
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


model = nn.Sequential(nn.Linear(4, 16), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    x = torch.randn(20, 4)
    hidden = SquaredReLU.apply(model[0](x))
    loss = nn.functional.mse_loss(model[1](hidden), x[:, :1].abs())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
