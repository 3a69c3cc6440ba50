"""Must stay silent: a pretrained embedding is copied in and not given to the optimizer."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1)
x = torch.randn(96, 6)
y = (x[:, 0] > 0).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 8)
        self.emb.weight.data.copy_(torch.randn(20, 8))
        self.rnn = nn.GRU(8, 8, batch_first=True)
        self.out = nn.Linear(8, 2)

    def forward(self, t):
        return self.out(self.rnn(self.emb(t))[0][:, -1])


model = Net()
opt = torch.optim.Adam([*model.rnn.parameters(), *model.out.parameters()], lr=1e-2)
tok = torch.randint(0, 20, (96, 5))
for step in range(30):
    loss = F.cross_entropy(model(tok), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
