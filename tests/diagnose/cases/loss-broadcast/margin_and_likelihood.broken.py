"""A hinge loss multiplies (N,) labels with (N, 1) scores; the log-likelihood of a Normal has the same two shapes."""
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(62)


def hinge(score, label):
    return torch.relu(1 - label * score).mean()  # EXPECT: loss-broadcast


x = torch.randn(120, 5)
label = (x[:, 0] - x[:, 1]).sign()
height = x[:, 2] * 2 + 1
classify, regress = nn.Linear(5, 1), nn.Linear(5, 1)
optimizer = torch.optim.SGD([*classify.parameters(), *regress.parameters()], lr=0.05)
for step in range(30):
    rows = torch.randint(0, 120, (24,))
    loss = hinge(classify(x[rows]), label[rows])
    loss = loss - Normal(regress(x[rows]), 1.0).log_prob(height[rows]).mean()  # EXPECT: loss-broadcast
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
