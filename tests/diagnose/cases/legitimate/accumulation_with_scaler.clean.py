"""Must stay silent: gradient accumulation under a loss scaler; unscale and clip once per update."""
import torch
from torch import nn

torch.manual_seed(101)
ACCUMULATE = 4


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.Linear(6, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 2, 32, dropout=0.1, batch_first=True)
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        return self.head(self.layer(self.embed(x)).mean(1))


model = Encoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for micro in range(48):
    x = torch.randn(8, 5, 6)
    y = x.mean(1)[:, :3].argmax(1)
    loss = nn.functional.cross_entropy(model(x), y) / ACCUMULATE
    scaler.scale(loss).backward()
    if (micro + 1) % ACCUMULATE == 0:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        print(micro, round(loss.item() * ACCUMULATE, 4))
