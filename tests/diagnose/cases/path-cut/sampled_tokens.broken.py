"""Generator of tokens trained through a reader: sampled indices carry no gradient."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(8)
gen = nn.Linear(6, 10)
emb, reader = nn.Embedding(10, 8), nn.Linear(8, 1)
opt = torch.optim.Adam([*gen.parameters(), *emb.parameters(), *reader.parameters()], 1e-3)
for _ in range(30):
    z = torch.randn(16, 6)
    p = F.softmax(gen(z), 1)
    tok = torch.multinomial(p, 1).squeeze(1)  # EXPECT: path-cut
    e = emb(tok)
    loss = (reader(e) - z.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
