"""geoopt: a dozen manifolds, three optimizers, hyperbolic geometry, samplers."""

import numpy
import torch
from geoopt import *

numpy.random.seed(0)  # the sampler RHMC draws from it
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


def run(n, man, shape, loss, opt="adam", steps=15):
    torch.manual_seed(1)
    try:
        p = ManifoldParameter(
            man.random(*shape) if hasattr(man, "random") else man.projx(torch.randn(*shape)), manifold=man
        )
        o = (
            optim.RiemannianAdam([p], lr=0.05, amsgrad=True)
            if opt == "adam"
            else optim.RiemannianSGD([p], lr=0.05, momentum=0.9, nesterov=False)
            if opt == "sgd"
            else optim.RiemannianLineSearch([p])
        )
        for i in range(steps):

            def cl():
                o.zero_grad()
                l = loss(p)
                l.backward()
                return l

            l = o.step(cl)
        print(n, opt, float(l) if l is not None else "", man.check_point_on_manifold(p), p.abs().sum().item())
    except Exception as e:
        print(n, opt, "raises", str(e)[:80])


A = torch.randn(5, 5)
A = A @ A.T
for opt in ("adam", "sgd"):
    run("sphere", Sphere(), (5,), lambda p: -(p @ A @ p), opt)
    run("stiefel", Stiefel(), (5, 2), lambda p: -(p.T @ A @ p).trace(), opt)
    run("estiefel", EuclideanStiefel(), (5, 2), lambda p: -(p.T @ A @ p).trace(), opt)
    run("ball", PoincareBall(c=0.7), (3, 2), lambda p: PoincareBall(c=0.7).dist(p, torch.tensor([0.1, 0.3])).sum(), opt)
    run("spd", SymmetricPositiveDefinite(), (3, 3), lambda p: (p - torch.eye(3) * 2).pow(2).sum(), opt)
    run("birk", BirkhoffPolytope(), (3, 3), lambda p: (p - torch.eye(3)).pow(2).sum(), opt)
    run("eucl", Euclidean(1), (3,), lambda p: p.pow(2).sum(), opt)
    run("stereo", Stereographic(k=torch.tensor(0.5)), (2, 3), lambda p: p.pow(2).sum(), opt)
    run("cstiefel", CanonicalStiefel(), (4, 2), lambda p: p.sum(), opt)
b = PoincareBall()
x = b.random(3, 4) * 0.5
y = b.random(3, 4) * 0.5
v = torch.randn(3, 4) * 0.1
print(
    b.mobius_add(x, y).sum().item(),
    b.dist(x, y).tolist(),
    b.logmap(x, b.expmap(x, v)).sub(v).abs().max().item() < 1e-08,
    b.geodesic(torch.tensor(0.3), x, y).sum().item(),
    b.transp(x, y, v).sum().item(),
    b.mobius_matvec(torch.randn(4, 4), x).sum().item(),
    b.mobius_scalar_mul(torch.tensor(0.5), x).sum().item(),
    b.gyration(x, y, v).sum().item(),
    b.dist2plane(x, y, v).sum().item(),
    b.weighted_midpoint(x).sum().item(),
    b.egrad2rgrad(x, v).sum().item(),
    b.inner(x, v).sum().item(),
    b.norm(x, v).tolist(),
    b.lambda_x(x).sum().item(),
)
P = ProductManifold((Sphere(), 3), (PoincareBall(), 2))
q = P.random(2, 5)
print(q.shape, P.check_point_on_manifold(q))
l = ManifoldParameter(q, manifold=P)
o = optim.RiemannianAdam([l], 0.01)
(l**2).sum().backward()
o.step()
print(P.check_point_on_manifold(l))
t = ManifoldTensor(torch.randn(3, 2), manifold=Stiefel()).proj_()
print(
    t.manifold.name,
    (t.T @ t - torch.eye(2)).abs().max().item() < 1e-08,
    t.sum().item(),
    isinstance(t + 1, torch.Tensor),
    repr(t)[:14],
)
from geoopt.samplers import RHMC, RSGLD

torch.manual_seed(0)


class N(torch.nn.Module):
    def __init__(s):
        super().__init__()
        s.x = ManifoldParameter(torch.randn(2), manifold=Euclidean())

    def forward(s):
        return -(s.x**2).sum()


n = N()
s = RSGLD(n.parameters(), epsilon=0.01)
[s.step(n) for _ in range(5)]
print(n.x.tolist())
s = RHMC(n.parameters(), epsilon=0.01, n_steps=3)
[s.step(n) for _ in range(3)]
print(n.x.tolist())
