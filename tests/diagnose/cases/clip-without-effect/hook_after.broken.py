"""Clipping hangs on the optimizer as a hook, of the wrong kind."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(4)
lm = nn.ModuleDict({"emb": nn.Embedding(30, 16), "rnn": nn.GRU(16, 16, batch_first=True), "out": nn.Linear(16, 30)})
opt = torch.optim.Adam(lm.parameters(), lr=4e-3)


def clip(optimizer, args, kwargs):
    for group in optimizer.param_groups:
        nn.utils.clip_grad_norm_(group["params"], 0.5)  # EXPECT: clip-without-effect


opt.register_step_post_hook(clip)
text = torch.arange(600) % 30
for step in range(30):
    start = step * 8 % 400
    seq = torch.stack([text[start + i : start + i + 17] for i in range(8)])
    h, _ = lm["rnn"](lm["emb"](seq[:, :-1]))
    loss = F.cross_entropy(lm["out"](h).flatten(0, 1), seq[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item() < 9)
