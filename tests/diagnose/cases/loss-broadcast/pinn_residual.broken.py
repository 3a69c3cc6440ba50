"""The network's output is (N, 1) and the source term (N,): the residual of the equation is a table, though both depend on t."""
import torch
from torch import nn

torch.manual_seed(61)


class Solution(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, t):
        return self.net(t.unsqueeze(1))


model = Solution()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(40):
    t = torch.rand(20).requires_grad_()
    u = model(t)
    slope = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    residual = u - torch.cos(3 * t)  # EXPECT: loss-broadcast
    loss = residual.square().mean() + 1e-4 * slope.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
