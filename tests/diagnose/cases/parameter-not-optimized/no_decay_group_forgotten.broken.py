"""the parameters are split into decay and no decay, and only the first group reaches the optimizer."""
import torch
from torch import nn

torch.manual_seed(28)


class Block(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.norm = nn.LayerNorm(dim)  # ALSO: parameter-not-optimized
        self.attention = nn.MultiheadAttention(dim, 2, bias=False, batch_first=True)
        self.mix = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        h = self.norm(x)
        h, _ = self.attention(h, h, h, need_weights=False)
        return x + torch.tanh(self.mix(h))


def configure(model, decay=0.05):
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": decay}]
    print("decayed", len(matrices), "not decayed", len(vectors))
    return torch.optim.AdamW(groups, lr=5e-3)  # EXPECT: parameter-not-optimized


model = Block()
optimizer = configure(model)
x = torch.randn(64, 5, 12)
y = x.roll(1, 1) * 0.5 + 0.2
for step in range(50):
    rows = torch.randint(0, 64, (16,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "norm weight", model.norm.weight.mean().item())
