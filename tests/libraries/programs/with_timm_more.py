"""timm: ten architectures, mixup, averaging of weights, schedules and optimizers."""

import timm
import torch
from timm.data import Mixup
from timm.loss import LabelSmoothingCrossEntropy, SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV3, accuracy

torch.manual_seed(0)
x = torch.randn(2, 3, 64, 64)
y = torch.randint(0, 10, (2,))
for n, kw in (
    ("resnet18", {}),
    ("mobilenetv3_small_050", {}),
    ("efficientnet_b0", dict(drop_path_rate=0.1)),
    ("vit_tiny_patch16_224", dict(img_size=64)),
    ("convnext_atto", {}),
    ("regnetx_002", {}),
    ("deit_tiny_patch16_224", dict(img_size=64)),
    ("mixer_s32_224", dict(img_size=64)),
    ("swin_tiny_patch4_window7_224", dict(img_size=64, window_size=4, embed_dim=24, depths=(1, 1), num_heads=(2, 4))),
    ("densenet121", {}),
):
    torch.manual_seed(1)
    m = timm.create_model(n, num_classes=10, **kw)
    m.train()
    o = m(x)
    l = torch.nn.functional.cross_entropy(o, y)
    l.backward()
    m.eval()
    with torch.no_grad():
        print(n, l.item(), m(x).norm().item(), sum(p.numel() for p in m.parameters()))
torch.manual_seed(2)
m = timm.create_model("resnet10t", num_classes=5, features_only=False)
o = create_optimizer_v2(m, opt="adamw", lr=1e-3, weight_decay=0.05, layer_decay=None)
s = CosineLRScheduler(o, t_initial=5, warmup_t=1, warmup_lr_init=1e-5)
ema = ModelEmaV3(m, decay=0.9)
mix = Mixup(mixup_alpha=0.8, cutmix_alpha=0.0, num_classes=5, label_smoothing=0.1)
import numpy as np

np.random.seed(0)
X, Y = torch.randn(4, 3, 32, 32), torch.randint(0, 5, (4,))
for e in range(3):
    xm, ym = mix(X.clone(), Y)
    l = SoftTargetCrossEntropy()(m(xm), ym)
    o.zero_grad()
    l.backward()
    o.step()
    ema.update(m)
    s.step(e + 1)
    print(l.item(), o.param_groups[0]["lr"])
ema.module.eval()
print(
    ema.module(X).norm().item(),
    LabelSmoothingCrossEntropy(0.1)(m(X), Y).item(),
    accuracy(m(X), Y, topk=(1, 3))[1].item(),
)
f = timm.create_model("resnet18", features_only=True, out_indices=(1, 2, 3))
print([t.shape for t in f(X)], f.feature_info.channels())
for opt in (
    "lamb",
    "lion",
    "adan",
    "nadamw",
    "radam",
    "adafactor",
    "madgrad",
    "adabelief",
    "rmsproptf",
    "lars",
    "adamp",
    "sgdp",
):
    torch.manual_seed(3)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    o = create_optimizer_v2(net, opt=opt, lr=1e-2, weight_decay=1e-2)
    xx = torch.randn(16, 4)
    for _ in range(3):
        o.zero_grad()
        l = net(xx).pow(2).mean()
        l.backward()
        o.step()
    print(opt, l.item())
m = timm.create_model("vit_tiny_patch16_224", img_size=64, num_classes=0)
print(m(x).shape, m.forward_features(x).shape)
m.reset_classifier(7)
print(m(x).shape, timm.list_models("resnet1*")[:3], m.default_cfg["input_size"])
