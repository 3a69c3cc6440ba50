"""vit-pytorch: vision transformers, a few steps of training each."""

import torch
from vit_pytorch import ViT
from vit_pytorch.simple_vit import SimpleViT

torch.manual_seed(0)
images, labels = torch.randn(8, 3, 32, 32), torch.randint(0, 5, (8,))
vit = ViT(
    image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=2, mlp_dim=64, dropout=0.1, emb_dropout=0.1
)
simple = SimpleViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=2, mlp_dim=64)
for model in (vit, simple):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(5):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        print(loss.item())
