"""A detection loss of several masked parts; some are empty in a batch and are then a zero tensor."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(18)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU())
        self.obj, self.box, self.cls = nn.Conv2d(8, 1, 1), nn.Conv2d(8, 4, 1), nn.Conv2d(8, 3, 1)

    def forward(self, x):
        f = self.stem(x)
        return self.obj(f).squeeze(1), self.box(f).permute(0, 2, 3, 1), self.cls(f).permute(0, 2, 3, 1)


net = Head()
opt = torch.optim.Adam(net.parameters(), 3e-3)
for it in range(60):
    img = torch.randn(4, 1, 8, 8)
    has = torch.rand(4, 8, 8) < (0.05 if it % 5 else 0.0)
    tbox, tcls = torch.rand(4, 8, 8, 4), torch.randint(0, 3, (4, 8, 8))
    obj, box, cls = net(img)
    lo = F.binary_cross_entropy_with_logits(obj, has.float())
    lb = F.smooth_l1_loss(box[has], tbox[has]) if has.any() else box.sum() * 0
    lc = F.cross_entropy(cls[has], tcls[has]) if has.any() else torch.zeros(())
    loss = lo + 5 * lb + lc
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
