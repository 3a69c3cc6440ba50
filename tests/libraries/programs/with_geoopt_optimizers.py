"""geoopt: every optimizer on every manifold, and what the manifolds compute."""

import geoopt
import torch
from geoopt.optim import RiemannianAdam, RiemannianSGD

manifolds = {
    "ball": (geoopt.PoincareBall(c=0.7), (3, 4)), "exact ball": (geoopt.PoincareBallExact(), (3, 4)),
    "lorentz": (geoopt.Lorentz(), (3, 4)), "sphere": (geoopt.Sphere(), (3, 4)), "exact sphere": (geoopt.SphereExact(), (3, 4)),
    "stiefel": (geoopt.EuclideanStiefel(), (5, 3)), "canonical": (geoopt.CanonicalStiefel(), (5, 3)),
    "definite": (geoopt.SymmetricPositiveDefinite(), (3, 3)), "stereographic": (geoopt.SphereProjection(), (3, 4)),
    "scaled": (geoopt.Scaled(geoopt.PoincareBall(), 2.0), (3, 4)),
    "product": (geoopt.ProductManifold((geoopt.Sphere(), 3), (geoopt.PoincareBall(), 4)), (7,)),
}  # fmt: skip
optimizers = (
    lambda p: RiemannianAdam([p], lr=0.02), lambda p: RiemannianAdam([p], lr=0.02, amsgrad=True),
    lambda p: RiemannianSGD([p], lr=0.05, momentum=0.9, nesterov=True), lambda p: RiemannianSGD([p], lr=0.05, weight_decay=0.1),
)  # fmt: skip

for name, (manifold, shape) in manifolds.items():
    for make in optimizers:
        torch.manual_seed(0)
        point = manifold.projx(torch.randn(*shape, dtype=torch.float64) * 0.3)
        target = manifold.projx(torch.randn(*shape, dtype=torch.float64) * 0.3)
        parameter = geoopt.ManifoldParameter(point.clone(), manifold=manifold)
        optimizer = make(parameter)
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = (parameter - target).pow(2).sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(name, type(optimizer).__name__, *(f"{loss:.6f}" for loss in losses), f"{parameter.sum().item():.6f}")
    at, tangent = parameter.detach(), manifold.proju(parameter.detach(), torch.ones(*shape, dtype=torch.float64) * 0.1)
    found = [manifold.retr(at, tangent), manifold.inner(at, tangent), manifold.transp_follow_retr(at, tangent, tangent)]
    if name not in ("stiefel", "canonical"):
        found += [manifold.expmap(at, tangent), manifold.dist(at, target), manifold.logmap(at, target)]
    print(name, *(f"{value.sum().item():.6f}" for value in found))
