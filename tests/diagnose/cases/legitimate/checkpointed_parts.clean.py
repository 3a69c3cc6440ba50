"""Checkpointed parts with dropout, in-place activations, frozen statistics and a recurrent layer: all replayed."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
torch.manual_seed(0)
seq = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Dropout(0.3), nn.Linear(8, 8), nn.BatchNorm1d(8).eval(), nn.GELU(), nn.Linear(8, 1))
seq.train(); seq[4].eval()
gru = nn.GRU(4, 4, batch_first=True)
o = torch.optim.Adam([*seq.parameters(), *gru.parameters()], 0.01)
for i in range(12):
    x = torch.randn(6, 3, 4)
    h = checkpoint(lambda v: gru(v)[0][:, -1], x, use_reentrant=False)
    y = checkpoint_sequential(seq, 2, h, use_reentrant=False)
    loss = y.pow(2).mean()
    o.zero_grad(); loss.backward(); o.step()
