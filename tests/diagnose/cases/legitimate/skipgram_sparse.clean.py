"""Skip-gram with negative sampling, sparse gradients and SparseAdam."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
V = 40
inp, out = nn.Embedding(V, 8, sparse=True), nn.Embedding(V, 8, sparse=True)
nn.init.zeros_(out.weight)
opt = torch.optim.SparseAdam([*inp.parameters(), *out.parameters()], lr=0.01)
corpus = torch.randint(V, (500,))
for step in range(60):
    i = torch.randint(1, 499, (32,))
    centre, context = corpus[i], corpus[i + 1]
    negative = torch.randint(V, (32, 4))
    c = inp(centre)
    pos = (c * out(context)).sum(-1)
    neg = torch.bmm(out(negative), c.unsqueeze(-1)).squeeze(-1)
    loss = -(F.logsigmoid(pos) + F.logsigmoid(-neg).sum(-1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(round(loss.item(), 2))
