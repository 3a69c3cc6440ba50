"""geoopt: optimisation on manifolds."""

import geoopt
import torch

torch.manual_seed(0)
ball, sphere, stiefel = geoopt.PoincareBall(), geoopt.Sphere(), geoopt.Stiefel()
x = geoopt.ManifoldParameter(torch.randn(5, 3) * 0.1, manifold=ball)
target = ball.expmap0(torch.randn(5, 3) * 0.5)
optimizer = geoopt.optim.RiemannianAdam([x], lr=0.05)
for _ in range(15):
    optimizer.zero_grad()
    loss = ball.dist(x, target).pow(2).sum()
    loss.backward()
    optimizer.step()
print(loss.item(), x.norm(dim=-1).max().item())
matrix = torch.randn(6, 6, dtype=torch.float64)
matrix = matrix @ matrix.T
vector = geoopt.ManifoldParameter(sphere.projx(torch.randn(6, dtype=torch.float64)), manifold=sphere)
optimizer = geoopt.optim.RiemannianSGD([vector], lr=1e-2, momentum=0.5)
for _ in range(20):
    optimizer.zero_grad()
    loss = -(vector @ matrix @ vector)
    loss.backward()
    optimizer.step()
print(loss.item(), vector.norm().item())
frame = geoopt.ManifoldParameter(stiefel.projx(torch.randn(6, 2, dtype=torch.float64)), manifold=stiefel)
optimizer = geoopt.optim.RiemannianAdam([frame], lr=1e-2)
for _ in range(10):
    optimizer.zero_grad()
    loss = -(frame.T @ matrix @ frame).trace()
    loss.backward()
    optimizer.step()
print(loss.item(), (frame.T @ frame - torch.eye(2)).abs().max().item() < 1e-8)
