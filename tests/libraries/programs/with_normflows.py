"""normflows: a flow of real-valued couplings and one of splines, fitted to two moons."""

import normflows as nf
import torch

torch.manual_seed(0)
base = nf.distributions.base.DiagGaussian(2)
flows = []
for _ in range(4):
    flows += [
        nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 16, 16, 2], init_zeros=True)),
        nf.flows.Permute(2, mode="swap"),
    ]
model = nf.NormalizingFlow(base, flows)
target = nf.distributions.TwoMoons()
data = target.sample(64)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for _ in range(10):
    optimizer.zero_grad()
    loss = model.forward_kld(data)
    loss.backward()
    optimizer.step()
print(loss.item())
samples, logs = model.sample(50)
print(samples.mean().item(), logs.mean().item())
spline = nf.NormalizingFlow(
    nf.distributions.DiagGaussian(2, trainable=False),
    [nf.flows.AutoregressiveRationalQuadraticSpline(2, 1, 16), nf.flows.LULinearPermute(2)],
)
optimizer = torch.optim.Adam(spline.parameters(), lr=5e-3)
for _ in range(5):
    optimizer.zero_grad()
    loss = spline.forward_kld(data)
    loss.backward()
    optimizer.step()
print(loss.item())
