"""A model that returns a dictionary of losses in training and of predictions otherwise."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(18)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.heads = nn.ModuleDict({"box": nn.Linear(32, 4), "cls": nn.Linear(32, 3), "obj": nn.Linear(32, 1)})

    def forward(self, x, targets=None):
        h = self.body(x)
        out = {k: head(h) for k, head in self.heads.items()}
        if not self.training:
            return {"boxes": out["box"], "scores": out["cls"].softmax(-1) * out["obj"].sigmoid()}
        obj = targets["obj"]
        pos = obj > 0
        losses = {"obj": F.binary_cross_entropy_with_logits(out["obj"][:, 0], obj)}
        losses["cls"] = F.cross_entropy(out["cls"][pos], targets["cls"][pos]) if pos.any() else out["cls"].sum() * 0
        losses["box"] = F.smooth_l1_loss(out["box"][pos], targets["box"][pos], reduction="sum") / max(int(pos.sum()), 1)
        return losses


model = Detector()
opt = torch.optim.AdamW(model.parameters(), 3e-3)
log = {}
for step in range(50):
    x = torch.randn(24, 10)
    targets = {"obj": (x[:, 0] > 0.3).float(), "cls": x[:, 1:4].argmax(1), "box": x[:, 4:8]}
    losses = model(x, targets)
    total = sum(losses.values())
    opt.zero_grad()
    total.backward()
    opt.step()
    for k, v in losses.items():
        log.setdefault(k, []).append(v.item())
model.eval()
with torch.no_grad():
    print(sorted(model(torch.randn(2, 10))))
