"""timm: models made by name, its optimizers and schedules."""

import timm
import torch
from timm.data import Mixup
from timm.loss import LabelSmoothingCrossEntropy, SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV3

torch.manual_seed(0)
images, labels = torch.randn(4, 3, 64, 64), torch.randint(0, 10, (4,))
for name, options in (
    ("resnet18", {}),
    ("vit_tiny_patch16_224", {"img_size": 64, "depth": 2}),
    ("efficientnet_b0", {"drop_path_rate": 0.1}),
    ("convnext_atto", {}),
):
    torch.manual_seed(1)
    model = timm.create_model(name, num_classes=10, **options)
    ema = ModelEmaV3(model, decay=0.9)
    optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
    scheduler = CosineLRScheduler(optimizer, t_initial=4, warmup_t=1, warmup_lr_init=1e-4)
    for step in range(2):
        optimizer.zero_grad()
        loss = LabelSmoothingCrossEntropy(0.1)(model(images), labels)
        loss.backward()
        optimizer.step()
        scheduler.step(step + 1)
        ema.update(model)
        print(name, loss.item(), optimizer.param_groups[0]["lr"])
    print(sum(p.numel() for p in model.parameters()), sum(p.norm().item() for p in ema.module.parameters()))
features = timm.create_model("resnet18", features_only=True, out_indices=(1, 2))
print([f.shape for f in features(images)])
mixed, target = Mixup(mixup_alpha=0.2, num_classes=10)(images, labels)
print(target.sum().item(), SoftTargetCrossEntropy()(torch.zeros(4, 10), target).item())
