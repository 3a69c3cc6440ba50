"""nflows: every transform there and back, flows with a context, mixtures."""

import torch
from nflows.distributions import *
from nflows.distributions.mixture import MADEMoG
from nflows.flows import *
from nflows.nn.nets import ResidualNet
from nflows.transforms import *

torch.manual_seed(0)
x = torch.randn(16, 4)
xu = torch.rand(16, 4) * 0.9 + 0.05
mk = lambda i, o: ResidualNet(i, o, hidden_features=16, num_blocks=1)
m = torch.tensor([1, 0, 1, 0])
ts = dict(
    maf=lambda: MaskedAffineAutoregressiveTransform(4, 16),
    mrq=lambda: MaskedPiecewiseRationalQuadraticAutoregressiveTransform(
        4, 16, num_bins=4, tails="linear", tail_bound=3.0
    ),
    mq=lambda: MaskedPiecewiseQuadraticAutoregressiveTransform(4, 16, num_bins=4),
    ml=lambda: MaskedPiecewiseLinearAutoregressiveTransform(num_bins=4, features=4, hidden_features=16),
    mc=lambda: MaskedPiecewiseCubicAutoregressiveTransform(num_bins=4, features=4, hidden_features=16),
    aff=lambda: AffineCouplingTransform(m, mk),
    add=lambda: AdditiveCouplingTransform(m, mk),
    prq=lambda: PiecewiseRationalQuadraticCouplingTransform(m, mk, num_bins=4, tails="linear", tail_bound=3.0),
    pq=lambda: PiecewiseQuadraticCouplingTransform(m, mk, num_bins=4),
    pl=lambda: PiecewiseLinearCouplingTransform(m, mk, num_bins=4),
    pc=lambda: PiecewiseCubicCouplingTransform(m, mk, num_bins=4),
    lu=lambda: LULinear(4),
    qr=lambda: QRLinear(4, 2),
    svd=lambda: SVDLinear(4, 2),
    hh=lambda: HouseholderSequence(4, 2),
    an=lambda: ActNorm(4),
    bn=lambda: BatchNorm(4),
    perm=lambda: ReversePermutation(4),
    sig=lambda: InverseTransform(Sigmoid()),
    leaky=lambda: LeakyReLU(),
    tanh=lambda: Tanh(),
    logit=lambda: Logit(),
    exp=lambda: LogTanh(),
)
for n, f in ts.items():
    torch.manual_seed(1)
    try:
        t = f()
        z, ld = t(xu if n in ("mq", "ml", "mc", "pq", "pl", "pc", "sig", "logit", "cauchy") else x)
        (z.pow(2).sum() - ld.sum()).backward() if z.requires_grad else None
        t.eval()
        b, l2 = t.inverse(z.detach())
        print(
            n,
            z.sum().item(),
            ld.sum().item(),
            (ld + l2).abs().max().item() < 0.001,
            sum(p.grad.norm() for p in t.parameters() if p.grad is not None)
            and sum(p.grad.norm() for p in t.parameters() if p.grad is not None).item(),
        )
    except Exception as e:
        print(n, "raises", str(e)[:60])
for F in (MaskedAutoregressiveFlow(4, 8, 2, 1), SimpleRealNVP(4, 8, 2, 1)):
    o = torch.optim.Adam(F.parameters(), 0.001)
    for i in range(4):
        o.zero_grad()
        l = -F.log_prob(x).mean()
        l.backward()
        o.step()
    print(l.item(), F.sample(3).sum().item(), F.transform_to_noise(x[:2]).sum().item())
c = Flow(
    CompositeTransform([MaskedAffineAutoregressiveTransform(4, 8, context_features=3), RandomPermutation(4)]),
    ConditionalDiagonalNormal([4], context_encoder=torch.nn.Linear(3, 8)),
)
ctx = torch.randn(16, 3)
print(c.log_prob(x, ctx).sum().item(), c.sample(2, ctx[:3]).shape)
s, lp = c.sample_and_log_prob(2, ctx[:3])
print(lp.sum().item())
mm = MADEMoG(features=4, hidden_features=16, context_features=None, num_mixture_components=3)
print(mm.log_prob(x).sum().item())
print(DiagonalNormal([3]).log_prob(torch.zeros(2, 3)).tolist())
