"""the older, reentrant checkpointing with preserve_rng_state=False: dropout draws another mask in the second run."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(70)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 6)
        self.drop = nn.Dropout(0.4)

    def forward(self, x):
        h = torch.tanh(self.inner(x))
        return x + self.drop(h)  # ALSO: checkpoint-diverges


block, embed, head = Block(), nn.Linear(4, 6), nn.Linear(6, 1)
optimizer = torch.optim.Adam([*block.parameters(), *embed.parameters(), *head.parameters()], lr=1e-2)
x = torch.randn(80, 4)
y = x.sum(1, keepdim=True)
for step in range(20):
    rows = torch.randint(0, 80, (16,))
    h = checkpoint(block, embed(x[rows]), use_reentrant=True, preserve_rng_state=False)  # EXPECT: checkpoint-diverges
    loss = nn.functional.mse_loss(head(h), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
