"""nflows: a masked autoregressive flow and a spline coupling flow."""

import torch
from nflows.distributions.normal import StandardNormal
from nflows.flows.base import Flow
from nflows.nn.nets import ResidualNet
from nflows.transforms.autoregressive import MaskedAffineAutoregressiveTransform
from nflows.transforms.base import CompositeTransform
from nflows.transforms.coupling import PiecewiseRationalQuadraticCouplingTransform
from nflows.transforms.lu import LULinear
from nflows.transforms.permutations import RandomPermutation, ReversePermutation

torch.manual_seed(0)
data = torch.randn(64, 3) @ torch.randn(3, 3) + 0.5 * torch.randn(64, 3) ** 2
first = CompositeTransform([ReversePermutation(3), MaskedAffineAutoregressiveTransform(3, 8), LULinear(3)])
second = CompositeTransform(
    [
        RandomPermutation(3),
        PiecewiseRationalQuadraticCouplingTransform(
            torch.tensor([1, 0, 1]), lambda i, o: ResidualNet(i, o, hidden_features=8), tails="linear", tail_bound=4.0
        ),
    ]
)
for transform in (first, second):
    flow = Flow(transform, StandardNormal([3]))
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
    for _ in range(10):
        optimizer.zero_grad()
        loss = -flow.log_prob(inputs=data).mean()
        loss.backward()
        optimizer.step()
    print(loss.item(), flow.sample(16).mean().item())
