"""a module-level helper with an nn.functional.dropout default is called from the tagger's forward, in eval mode as well."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(27)


def variational_dropout(x, p=0.25):
    mask = F.dropout(torch.ones(x.size(0), 1, x.size(2)), p)  # EXPECT: dropout-ignores-mode
    return x * mask


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(6, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, 3)

    def forward(self, x):
        h, _ = self.gru(x)
        return self.out(variational_dropout(h))


x = torch.randn(120, 7, 6)
tags = (x[:, :, :3] + x[:, :, 3:]).argmax(2)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    model.train()
    for idx in torch.randperm(90).split(10):
        loss = F.cross_entropy(model(x[idx]).flatten(0, 1), tags[idx].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        hits = (model(x[90:]).argmax(2) == tags[90:]).float().mean().item()
    print("epoch", epoch, "loss", round(loss.item(), 4), "tag accuracy", round(hits, 4))
