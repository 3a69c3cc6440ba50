"""Must stay silent: retain_graph=True is used, the second task's backward goes through the same trunk."""
import torch
from torch import nn

torch.manual_seed(165)
trunk = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
left, right = nn.Linear(24, 1), nn.Linear(24, 3)
optimizer = torch.optim.Adam([*trunk.parameters(), *left.parameters(), *right.parameters()], lr=3e-3)
for step in range(50):
    x = torch.randn(32, 6)
    shared = trunk(x)
    loss_left = nn.functional.mse_loss(left(shared), x[:, :1])
    loss_right = nn.functional.cross_entropy(right(shared), x[:, 1:4].argmax(1))
    optimizer.zero_grad()
    loss_left.backward(retain_graph=True)
    norm_left = trunk[0].weight.grad.norm().item()
    loss_right.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss_left.item(), 4), round(loss_right.item(), 4), "left share", round(norm_left, 4))
