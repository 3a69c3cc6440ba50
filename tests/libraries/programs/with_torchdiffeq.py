"""torchdiffeq: a neural ordinary differential equation, with gradients through the solver and by the adjoint."""

import torch
from torchdiffeq import odeint, odeint_adjoint, odeint_event

torch.manual_seed(0)
times = torch.linspace(0.0, 2.0, 10)
matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
start = torch.tensor([[2.0, 0.0]])
with torch.no_grad():
    truth = odeint(lambda t, y: y**3 @ matrix, start, times, method="dopri5")
print(truth[-1].tolist())


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 20), torch.nn.Tanh(), torch.nn.Linear(20, 2))

    def forward(self, t, y):
        return self.net(y**3)


for solve, method in ((odeint, "rk4"), (odeint_adjoint, "dopri5"), (odeint, "bosh3")):
    torch.manual_seed(1)
    field = Field()
    optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-3)
    for _ in range(4):
        optimizer.zero_grad()
        loss = (solve(field, start, times, method=method, rtol=1e-4, atol=1e-5) - truth).abs().mean()
        loss.backward()
        optimizer.step()
        print(method, loss.item())


class Ball(torch.nn.Module):
    def forward(self, t, state):
        _, velocity = state
        return velocity, torch.full_like(velocity, -9.8)


when, _ = odeint_event(
    Ball(),
    (torch.tensor([10.0]), torch.tensor([0.0])),
    torch.tensor(0.0),
    event_fn=lambda t, s: s[0],
    odeint_interface=odeint,
)
print(when.item())
