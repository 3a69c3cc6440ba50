"""torchdiffeq: every solver forwards and backwards, through the steps and by the adjoint, with options; events."""

import torch
from torchdiffeq import odeint, odeint_adjoint, odeint_event


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

    def forward(self, t, y):
        return self.net(y**3) * torch.cos(t)


adaptive = ("dopri8", "dopri5", "bosh3", "fehlberg2", "adaptive_heun")
fixed = ("euler", "midpoint", "heun3", "rk4", "explicit_adams", "implicit_adams")
for method in adaptive + fixed:
    for solve in (odeint, odeint_adjoint):
        for backwards in (False, True):
            torch.manual_seed(0)
            field = Field().double()
            start = torch.tensor([[2.0, 0.0], [1.0, 0.5]], dtype=torch.float64, requires_grad=True)
            times = torch.linspace(0, 1, 5, dtype=torch.float64)
            times = (times.flip(0) if backwards else times).requires_grad_()
            options = {"step_size": 0.05} if method in fixed else {"first_step": 0.01}
            path = solve(field, start, times, method=method, rtol=1e-6, atol=1e-7, options=options)
            (path * torch.arange(5.0).view(5, 1, 1)).sum().backward()
            norm = sum(p.grad.norm() for p in field.parameters())
            print(
                method,
                solve.__name__,
                *(f"{v.item():.6f}" for v in (path.sum(), start.grad.sum(), norm, times.grad.norm())),
            )

for norm in ("seminorm", lambda state: state[0].abs().max()):
    field = Field()
    state = (torch.ones(3, 2), torch.zeros(3, 1))
    paths = odeint_adjoint(
        lambda t, y: (field(t, y[0]), y[0].sum(1, keepdim=True)), state, torch.tensor([0.0, 0.5]),
        adjoint_params=tuple(field.parameters()), adjoint_options={"norm": norm} if norm == "seminorm" else {},
    )  # fmt: skip
    sum(path[-1].pow(2).sum() for path in paths).backward()
    print(
        *(f"{path[-1].sum().item():.5f}" for path in paths),
        *(f"{p.grad.norm().item():.4f}" for p in field.parameters()),
    )

gravity = torch.tensor(9.8, requires_grad=True)
height = torch.tensor(10.0, requires_grad=True)
ball = (height, torch.tensor(0.0))
for _ in range(3):
    time, states = odeint_event(
        lambda t, y: (y[1], -gravity), ball, torch.tensor(0.0), event_fn=lambda t, y: y[0], atol=1e-8, rtol=1e-8,
        odeint_interface=odeint,
    )  # fmt: skip
    ball = (states[0][-1] + 1e-3, -0.8 * states[1][-1])
    print(f"{time.item():.5f} {ball[1].item():.5f}")
ball[1].backward()
print(f"{gravity.grad.item():.5f} {height.grad.item():.5f}")
