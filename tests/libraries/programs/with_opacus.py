"""opacus: training with differential privacy: gradients of single samples, clipped, with noise."""

import torch
import torch.nn.functional as F
from opacus import PrivacyEngine
from opacus.validators import ModuleValidator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(48, 1, 8, 8)
y = (x.mean((1, 2, 3)) > 0).long()
norms = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
print(len(ModuleValidator.validate(norms)), ModuleValidator.fix(norms)[1])
models = {
    "images": nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2)),
    "layers": nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, 2)),
}
for name, model in models.items():
    for mode in ("hooks", "functorch"):
        torch.manual_seed(1)
        engine = PrivacyEngine()
        private, optimizer, loader = engine.make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
            data_loader=DataLoader(TensorDataset(x, y), batch_size=12),
            noise_multiplier=1.0,
            max_grad_norm=1.0,
            grad_sample_mode=mode,
        )
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(private(inputs), labels)
            loss.backward()
            optimizer.step()
            print(name, mode, len(inputs), loss.item())
        print(engine.get_epsilon(1e-3))
        private.remove_hooks()
