"""Switch routing with an expert that sees its rare tokens; a load-balancing term."""
import torch
from torch import nn
from torch.nn import functional as F


class Switch(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.router = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim)) for _ in range(experts))

    def forward(self, x, domain):
        probs = self.router(x).softmax(-1)
        index = domain
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = (index == i).nonzero().squeeze(1)
            if len(rows):
                out = out.index_add(0, rows, expert(x[rows]) * probs[rows, i:i + 1])
        return x + out


torch.manual_seed(6)
model = nn.Sequential(nn.Embedding(50, 16))
moe, head = Switch(16, 4), nn.Linear(16, 50)
params = [*model.parameters(), *moe.parameters(), *head.parameters()]
opt = torch.optim.Adam(params, lr=3e-3)
for step in range(260):
    tokens = torch.randint(0, 50, (64,))
    domain = tokens % 3
    if step % 37 == 36:
        domain = torch.where(tokens < 3, torch.tensor(3), domain)
    logits = head(moe(model(tokens), domain))
    loss = F.cross_entropy(logits, (tokens + 1) % 50)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.3f}")
