"""A model under torch.compile (`aot_eager` or what is named); the broken one never clears. Prints how many graphs there were."""

import sys

import torch
import torch._dynamo.testing
from torch import nn

BROKEN = "clean" not in sys.argv
BACKEND = next((name for name in ("inductor",) if name in sys.argv), "aot_eager")
torch.manual_seed(0)
counter = torch._dynamo.testing.CompileCounterWithBackend(BACKEND)
model = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 1))
compiled = torch.compile(model, backend=counter)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(30):
    x = torch.randn(8, 4)
    if not BROKEN:
        optimizer.zero_grad()
    loss = nn.functional.mse_loss(compiled(x), x.sum(1, keepdim=True))
    loss.backward()
    optimizer.step()  # EXPECT: stale-gradient
print("graphs", counter.frame_count, f"{loss.item():.4f}")
