"""Architecture search: weights on one half of the data, mixing weights on the other, an optimizer for each."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)


class Mixed(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ops = nn.ModuleList([nn.Identity(), nn.Sequential(nn.Linear(d, d), nn.ReLU()), nn.Sequential(nn.Linear(d, d), nn.Tanh())])

    def forward(self, x, alpha):
        return sum(w * op(x) for w, op in zip(alpha.softmax(0), self.ops))


cells, head = nn.ModuleList([Mixed(6) for _ in range(2)]), nn.Linear(6, 2)
alphas = [nn.Parameter(1e-3 * torch.randn(3)) for _ in range(2)]
w_opt = torch.optim.SGD([*cells.parameters(), *head.parameters()], 0.05, momentum=0.9)
a_opt = torch.optim.Adam(alphas, 3e-3)


def loss_on(x):
    h = x
    for c, a in zip(cells, alphas):
        h = c(h, a)
    return F.cross_entropy(head(h), (x[:, 0] * x[:, 1] > 0).long())


for step in range(60):
    a_opt.zero_grad()
    loss_on(torch.randn(32, 6)).backward()
    a_opt.step()
    w_opt.zero_grad()
    loss = loss_on(torch.randn(32, 6))
    loss.backward()
    w_opt.step()
print([a.argmax().item() for a in alphas] != [])
