"""timm: two dozen families of models, features, optimizers, schedules and layers."""

import warnings

import timm
import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)
for n, kw, s in (
    ("resnet18", {}, 64),
    ("vit_tiny_patch16_224", dict(img_size=64), 64),
    ("mobilenetv3_small_050", {}, 64),
    ("efficientnet_b0", dict(drop_path_rate=0.0), 64),
    ("convnext_atto", {}, 64),
    (
        "swin_tiny_patch4_window7_224",
        dict(img_size=56, window_size=7, embed_dim=24, depths=(1, 1), num_heads=(1, 2)),
        56,
    ),
    ("regnetx_002", {}, 64),
    ("densenet121", dict(growth_rate=8, block_config=(2, 2, 2, 2)), 64),
    ("ghostnet_050", {}, 64),
    ("maxvit_tiny_rw_224", None, 64),
    ("deit_tiny_patch16_224", dict(img_size=64, depth=2), 64),
    ("pvt_v2_b0", {}, 64),
    ("poolformer_s12", {}, 64),
    ("edgenext_xx_small", {}, 64),
    ("repvgg_a0", {}, 64),
    ("hrnet_w18_small", {}, 64),
    ("xcit_nano_12_p16_224", dict(img_size=64, depth=2), 64),
    ("cait_xxs24_224", dict(img_size=64, depth=2), 64),
    ("coat_tiny", None, 64),
    ("eva02_tiny_patch14_224", dict(img_size=56, depth=2), 56),
    ("beit_base_patch16_224", dict(img_size=64, embed_dim=48, depth=2, num_heads=4), 64),
    ("mobilevit_xxs", {}, 64),
    ("fastvit_t8", {}, 64),
    ("levit_128s", dict(img_size=64), 64),
):
    if kw is None:
        continue
    torch.manual_seed(1)
    try:
        m = timm.create_model(n, num_classes=5, **kw)
        x = torch.randn(2, 3, s, s)
        m.eval()
        o = m(x)
        f = m.forward_features(x)
        l = torch.nn.functional.cross_entropy(o, torch.tensor([1, 3]))
        l.backward()
        print(
            n,
            o.abs().sum().item(),
            tuple(f.shape),
            l.item(),
            sum(p.grad.norm() for p in m.parameters() if p.grad is not None).item(),
        )
    except Exception as e:
        print(n, "raises", type(e).__name__, str(e)[:80])
m = timm.create_model("resnet18", features_only=True, out_indices=(1, 2), pretrained=False).eval()
print([t.shape for t in m(torch.zeros(1, 3, 64, 64))], m.feature_info.channels())
from timm.optim import create_optimizer_v2

for n in (
    "sgd",
    "adamw",
    "lamb",
    "lion",
    "adafactor",
    "nadamw",
    "radam",
    "rmsproptf",
    "adopt",
    "madgrad",
    "novograd",
    "lookahead_adam",
    "adan",
    "lars",
    "sgdp",
    "adamp",
    "muon",
    "mars",
    "laprop",
    "kron",
    "cadamw",
):
    torch.manual_seed(2)
    net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2))
    try:
        o = create_optimizer_v2(net, n, lr=0.01, weight_decay=0.05)
        x = torch.randn(8, 4)
        for i in range(4):
            o.zero_grad()
            l = net(x).pow(2).mean()
            l.backward()
            o.step()
        print(n, l.item())
    except Exception as e:
        print(n, "raises", type(e).__name__, str(e)[:60])
from timm.scheduler import *

for S in (
    CosineLRScheduler(
        torch.optim.SGD(net.parameters(), 1.0), t_initial=10, warmup_t=3, warmup_lr_init=0.1, lr_min=0.01
    ),
    StepLRScheduler(torch.optim.SGD(net.parameters(), 1.0), decay_t=3, decay_rate=0.5),
    TanhLRScheduler(torch.optim.SGD(net.parameters(), 1.0), t_initial=10),
    PolyLRScheduler(torch.optim.SGD(net.parameters(), 1.0), t_initial=10),
    PlateauLRScheduler(torch.optim.SGD(net.parameters(), 1.0), patience_t=1),
):
    out = []
    for e in range(6):
        S.step(e, 1.0)
        out.append(round(S.optimizer.param_groups[0]["lr"], 4))
    print(type(S).__name__, out)
from timm.layers import *

torch.manual_seed(3)
x = torch.randn(2, 8, 6, 6)
for n, L in dict(
    se=SqueezeExcite(8),
    eca=EcaModule(8),
    drop=DropPath(0.5),
    blur=BlurPool2d(8),
    scp=SelectAdaptivePool2d(pool_type="catavgmax"),
    ln=LayerNorm2d(8),
    gn=GroupNorm1(8),
    ibn=BatchNormAct2d(8),
    std=StdConv2d(8, 8, 3),
    split=SplitAttn(8),
    mish=create_act_layer("mish"),
    hs=create_act_layer("hard_swish"),
).items():
    torch.manual_seed(4)
    print(n, L(x).square().sum().item())
