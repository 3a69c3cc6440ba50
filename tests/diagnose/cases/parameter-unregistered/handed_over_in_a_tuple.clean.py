"""Legitimate twin: the tuple names layers that are attributes too, and a frozen teacher hides in a list on purpose."""
import torch
from torch import nn
import torch.nn.functional as F


class TwoTower(nn.Module):
    def __init__(self, towers, teacher, temperature=0.5):
        super().__init__()
        self.query, self.document = towers
        self.towers = (self.query, self.document)
        self.hidden_teacher = [teacher.requires_grad_(False)]
        self.scale = nn.Parameter(torch.tensor(1.0 / temperature))

    def forward(self, query, document):
        q, d = (F.normalize(tower(v), dim=1) for tower, v in zip(self.towers, (query, document)))
        return self.scale * q @ d.t()


def main():
    torch.manual_seed(57)
    query_tower = nn.Sequential(nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 5))
    document_tower = nn.Sequential(nn.Linear(9, 16), nn.Tanh(), nn.Linear(16, 5))
    teacher = nn.Linear(7, 5)
    model = TwoTower((query_tower, document_tower), teacher)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    shared = torch.randn(128, 4)
    queries, documents = shared @ torch.randn(4, 7), shared @ torch.randn(4, 9)
    for step in range(50):
        rows = torch.randperm(128)[:16]
        scores = model(queries[rows], documents[rows])
        loss = F.cross_entropy(scores, torch.arange(16))
        hint = F.normalize(model.hidden_teacher[0](queries[rows]), dim=1)
        loss = loss - 0.05 * (hint * F.normalize(model.query(queries[rows]), dim=1)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, "loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
