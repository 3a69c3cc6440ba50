"""Must stay silent: frozen embedding from pretrained."""
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(5)
glove = torch.randn(50, 12)
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding.from_pretrained(glove)
        self.rnn = nn.LSTM(12, 16, batch_first=True)
        self.out = nn.Linear(16, 3)
    def forward(self, t):
        return self.out(self.rnn(self.emb(t))[1][0][-1])
m = M()
opt = torch.optim.Adam(m.parameters(), 1e-2)
t = torch.randint(0, 50, (30, 7))
for _ in range(30):
    loss = F.cross_entropy(m(t), t[:, 0] % 3)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("glove")
