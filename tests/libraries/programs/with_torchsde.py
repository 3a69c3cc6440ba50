"""torchsde: a stochastic differential equation whose drift is learned."""

import torch
import torchsde

torch.manual_seed(0)


class SDE(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.drift = torch.nn.Linear(3, 3)
        self.spread = torch.nn.Parameter(torch.full((3,), 0.2))

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return self.spread * torch.ones_like(y)


sde, y0, times = SDE(), torch.full((4, 3), 0.1), torch.linspace(0, 1, 6)
for solve, method in ((torchsde.sdeint, "euler"), (torchsde.sdeint, "milstein"), (torchsde.sdeint_adjoint, "euler")):
    optimizer = torch.optim.Adam(sde.parameters(), lr=1e-2)
    for step in range(3):
        optimizer.zero_grad()
        noise = torchsde.BrownianInterval(
            t0=0.0, t1=1.0, size=(4, 3), entropy=step, levy_area_approximation="space-time"
        )
        loss = (solve(sde, y0, times, bm=noise, method=method, dt=0.05)[-1] - 1).pow(2).mean()
        loss.backward()
        optimizer.step()
        print(method, loss.item())
