"""Must stay silent: weight tying."""
import torch
from torch import nn
torch.manual_seed(47)
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(25, 12)
        self.rnn = nn.GRU(12, 12, batch_first=True)
        self.out = nn.Linear(12, 25, bias=False)
        self.out.weight = self.emb.weight
    def forward(self, t):
        return self.out(self.rnn(self.emb(t))[0])
lm = LM()
opt = torch.optim.Adam(lm.parameters(), 5e-3)
for _ in range(20):
    t = (torch.randint(0, 25, (8, 1)) + torch.arange(10)) % 25
    loss = nn.functional.cross_entropy(lm(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
print("tied")
