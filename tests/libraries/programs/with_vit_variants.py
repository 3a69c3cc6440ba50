"""vit-pytorch: seven more architectures, two steps of training each."""

import torch
from vit_pytorch.cross_vit import CrossViT
from vit_pytorch.cvt import CvT
from vit_pytorch.levit import LeViT
from vit_pytorch.pit import PiT
from vit_pytorch.t2t import T2TViT
from vit_pytorch.twins_svt import TwinsSVT
from vit_pytorch.vit_for_small_dataset import ViT as SmallViT

torch.manual_seed(0)


def train(n, m, size=64, ch=3):
    x = torch.randn(2, ch, size, size)
    y = torch.tensor([1, 3])
    o = torch.optim.SGD(m.parameters(), 0.001)
    for i in range(2):
        out = m(x)
        l = torch.nn.functional.cross_entropy(out, y)
        o.zero_grad()
        l.backward()
        o.step()
        print(n, i, l.item())


train(
    "small",
    SmallViT(
        image_size=64, patch_size=16, num_classes=5, dim=32, depth=2, heads=4, mlp_dim=64, dropout=0.1, emb_dropout=0.1
    ),
)
train("pit", PiT(image_size=64, patch_size=8, dim=32, num_classes=5, depth=(1, 1), heads=2, mlp_dim=64))
train(
    "cvt",
    CvT(
        num_classes=5,
        s1_emb_dim=16,
        s1_depth=1,
        s2_emb_dim=32,
        s2_depth=1,
        s2_heads=2,
        s3_emb_dim=48,
        s3_depth=1,
        s3_heads=2,
    ),
)
train(
    "cross",
    CrossViT(
        image_size=64,
        num_classes=5,
        depth=1,
        sm_dim=32,
        sm_patch_size=8,
        sm_enc_depth=1,
        sm_enc_heads=2,
        sm_enc_mlp_dim=32,
        lg_dim=48,
        lg_patch_size=16,
        lg_enc_depth=1,
        lg_enc_heads=2,
        lg_enc_mlp_dim=32,
        cross_attn_depth=1,
        cross_attn_heads=2,
    ),
)
train("t2t", T2TViT(dim=32, image_size=64, depth=1, heads=2, mlp_dim=32, num_classes=5, t2t_layers=((7, 4), (3, 2))))
train(
    "twins",
    TwinsSVT(
        num_classes=5,
        s1_emb_dim=16,
        s1_patch_size=4,
        s1_local_patch_size=4,
        s1_global_k=4,
        s1_depth=1,
        s2_emb_dim=24,
        s2_patch_size=2,
        s2_local_patch_size=4,
        s2_global_k=4,
        s2_depth=1,
        s3_emb_dim=32,
        s3_patch_size=2,
        s3_local_patch_size=4,
        s3_global_k=4,
        s3_depth=1,
        s4_emb_dim=32,
        s4_patch_size=2,
        s4_local_patch_size=2,
        s4_global_k=2,
        s4_depth=1,
    ),
)
m = LeViT(image_size=64, num_classes=5, stages=2, dim=(32, 48), depth=1, heads=(2, 3), mlp_mult=2, dropout=0.0)
train("levit", m)
