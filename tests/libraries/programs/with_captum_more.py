"""captum: attributions to inputs, layers and neurons, by gradients and by perturbation."""

import torch
import torch.nn as nn
from captum.attr import *
from captum.metrics import infidelity, sensitivity_max

torch.manual_seed(0)


class C(nn.Module):
    def __init__(s):
        super().__init__()
        s.c1 = nn.Conv2d(1, 4, 3, padding=1)
        s.r1 = nn.ReLU()
        s.p = nn.MaxPool2d(2)
        s.c2 = nn.Conv2d(4, 6, 3, padding=1)
        s.r2 = nn.ReLU()
        s.f = nn.Flatten()
        s.l = nn.Linear(96, 3)

    def forward(s, x):
        return s.l(s.f(s.r2(s.c2(s.p(s.r1(s.c1(x)))))))


m = C().eval()
x = torch.randn(2, 1, 8, 8)
b = torch.zeros_like(x)
for n, a, k in (
    ("ig", IntegratedGradients(m), dict(baselines=b, n_steps=20)),
    ("sal", Saliency(m), {}),
    ("ixg", InputXGradient(m), {}),
    ("dl", DeepLift(m), dict(baselines=b)),
    ("dls", DeepLiftShap(m), dict(baselines=torch.randn(3, 1, 8, 8))),
    ("gb", GuidedBackprop(m), {}),
    ("dec", Deconvolution(m), {}),
    ("ggc", GuidedGradCam(m, m.c2), {}),
    ("occ", Occlusion(m), dict(sliding_window_shapes=(1, 3, 3), strides=(1, 2, 2))),
    ("fa", FeatureAblation(m), dict(feature_mask=torch.arange(4).repeat_interleave(16).view(1, 1, 8, 8))),
):
    torch.manual_seed(1)
    try:
        o = a.attribute(x, target=torch.tensor([0, 2]), **k)
        print(n, o.sum().item(), o.abs().sum().item())
    except Exception as e:
        print(n, "raises", str(e)[:60])
import numpy as np

np.random.seed(1)
torch.manual_seed(1)
print(
    "gs",
    GradientShap(m)
    .attribute(x, baselines=torch.randn(4, 1, 8, 8), target=1, n_samples=4, stdevs=0.1)
    .abs()
    .sum()
    .item(),
)
torch.manual_seed(1)
print(
    "nt",
    NoiseTunnel(Saliency(m)).attribute(x, nt_type="smoothgrad_sq", nt_samples=4, stdevs=0.1, target=0).sum().item(),
)
a, d = IntegratedGradients(m).attribute(
    x, target=1, return_convergence_delta=True, method="gausslegendre", internal_batch_size=6
)
print("delta", d.abs().max().item() < 0.001)
for n, a, k in (
    ("lgc", LayerGradCam(m, m.c2), {}),
    ("lact", LayerActivation(m, m.c1), {}),
    ("lcond", LayerConductance(m, m.c2), dict(n_steps=8)),
    ("lig", LayerIntegratedGradients(m, m.c1), dict(n_steps=8)),
    ("ldl", LayerDeepLift(m, m.c2), dict(baselines=b)),
    ("lgxa", LayerGradientXActivation(m, m.c2), {}),
    ("lfa", LayerFeatureAblation(m, m.p), {}),
    ("intinf", InternalInfluence(m, m.c2), dict(n_steps=8)),
):
    o = a.attribute(x, **k) if n == "lact" else a.attribute(x, target=0, **k)
    print(n, tuple(o.shape), o.sum().item())
print(LayerAttribution.interpolate(LayerGradCam(m, m.c2).attribute(x, target=0), (8, 8)).sum().item())
for n, a in (
    ("nc", NeuronConductance(m, m.c2)),
    ("ng", NeuronGradient(m, m.c2)),
    ("nig", NeuronIntegratedGradients(m, m.c2)),
    ("ngb", NeuronGuidedBackprop(m, m.c2)),
):
    print(n, (a.attribute(x, (1, 2, 2), target=0) if n == "nc" else a.attribute(x, (1, 2, 2))).abs().sum().item())
t = torch.randn(3, 4)
f = lambda z: (z**2).sum(1) + z[:, 0] * z[:, 1]
torch.manual_seed(2)
print("sv", ShapleyValueSampling(f).attribute(t, n_samples=5).tolist())
print("svx", ShapleyValues(f).attribute(t).tolist())
print(
    "perm",
    FeaturePermutation(f, perm_func=lambda x, m: torch.roll(x, 1, 0) * m + x * (~m if m.dtype == torch.bool else 1 - m))
    .attribute(t)
    .tolist(),
)
torch.manual_seed(3)
print("ks", KernelShap(f).attribute(t[:1], n_samples=40).shape)
torch.manual_seed(3)
print(
    "inf",
    infidelity(
        m, lambda x: (torch.ones_like(x) * 0.01, x - 0.01), x, Saliency(m).attribute(x, target=0), target=0
    ).tolist(),
)
torch.manual_seed(3)
print(
    "sens",
    sensitivity_max(
        lambda x: (
            Saliency(m).attribute(x, target=0) if not isinstance(x, tuple) else (Saliency(m).attribute(x[0], target=0),)
        ),
        x,
    ).shape,
)


class E(nn.Module):
    def __init__(s):
        super().__init__()
        s.embedding = nn.Embedding(10, 6)
        s.l = nn.Linear(6, 2)

    def forward(s, i):
        return s.l(s.embedding(i).mean(1))


e = E()
i = torch.tensor([[1, 2, 3]])
print(
    "emb",
    LayerIntegratedGradients(e, e.embedding)
    .attribute(i, baselines=torch.zeros_like(i), target=1, n_steps=10)
    .sum(-1)
    .tolist(),
)
em = configure_interpretable_embedding_layer(e, "embedding")
emb = em.indices_to_embeddings(i)
print(IntegratedGradients(e).attribute(emb, target=0, n_steps=5).sum().item())
remove_interpretable_embedding_layer(e, em)
