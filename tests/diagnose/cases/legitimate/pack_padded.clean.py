"""Must stay silent: pack padded."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
torch.manual_seed(22)
emb, rnn, out = nn.Embedding(20, 8, padding_idx=0), nn.GRU(8, 12, batch_first=True), nn.Linear(12, 20)
opt = torch.optim.Adam([p for m in (emb, rnn, out) for p in m.parameters()], 5e-3)
for _ in range(20):
    seqs = [torch.randint(1, 20, (n,)) for n in (9, 7, 4, 3)]
    lens = torch.tensor([len(s) - 1 for s in seqs])
    t = pad_sequence(seqs, batch_first=True)
    packed = pack_padded_sequence(emb(t[:, :-1]), lens, batch_first=True)
    h, _ = pad_packed_sequence(rnn(packed)[0], batch_first=True)
    loss = nn.functional.cross_entropy(out(h).flatten(0, 1), t[:, 1:].flatten(), ignore_index=0)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("packed")
