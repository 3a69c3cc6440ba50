"""Triplets mined under no_grad with the current embeddings, then embedded again with gradients."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 6))
opt = torch.optim.AdamW(net.parameters(), 1e-3)
cls = torch.randint(6, (96,))
pts = torch.randn(6, 8)[cls] + 0.5 * torch.randn(96, 8)


def mine(n=32):
    with torch.no_grad():
        z = F.normalize(net(pts), dim=1)
        dist = torch.cdist(z, z)
    anchors = torch.randint(96, (n,))
    same = cls[anchors, None] == cls[None]
    pos = dist[anchors].masked_fill(~same, -1).argmax(1)
    neg = dist[anchors].masked_fill(same, 9).argmin(1)
    return anchors, pos, neg


for step in range(60):
    a, p, n = mine()
    za, zp, zn = (F.normalize(net(pts[i]), dim=1) for i in (a, p, n))
    loss = F.triplet_margin_loss(za, zp, zn, margin=0.3)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 3))
