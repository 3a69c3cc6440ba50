"""captum: attributions of a small network."""

import torch
from captum.attr import (
    DeepLift,
    FeatureAblation,
    GradientShap,
    InputXGradient,
    IntegratedGradients,
    LayerConductance,
    NoiseTunnel,
    Occlusion,
    Saliency,
    ShapleyValueSampling,
)

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 3)).eval()
inputs, baselines = torch.randn(4, 6), torch.zeros(4, 6)
attributions, delta = IntegratedGradients(model).attribute(inputs, baselines, target=1, return_convergence_delta=True)
print(attributions.sum().item(), delta.abs().max().item() < 1e-2)
for method in (Saliency(model), InputXGradient(model), FeatureAblation(model)):
    print(type(method).__name__, method.attribute(inputs, target=0).norm().item())
print(DeepLift(model).attribute(inputs, baselines, target=2).norm().item())
print(LayerConductance(model, model[1]).attribute(inputs, baselines, target=0).norm().item())
torch.manual_seed(1)
print(
    NoiseTunnel(Saliency(model))
    .attribute(inputs, nt_type="smoothgrad", nt_samples=5, stdevs=0.1, target=0)
    .norm()
    .item()
)
print(Occlusion(model).attribute(inputs, sliding_window_shapes=(2,), target=0).norm().item())
print(ShapleyValueSampling(model).attribute(inputs, target=0, n_samples=4).shape)
print(GradientShap(model).attribute(inputs, baselines, target=1, n_samples=4, stdevs=0.0).shape)
