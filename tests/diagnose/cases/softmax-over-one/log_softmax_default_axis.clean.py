"""A pointer squeezes its scores to (batch, items) before the log-softmax."""
import torch
from torch import nn

torch.manual_seed(73)


class Pointer(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.items = nn.Linear(3, width)
        self.query = nn.Linear(3, width)
        self.score = nn.Linear(width, 1)
        self.log_softmax = nn.LogSoftmax(dim=-1)

    def forward(self, items, query):
        joint = torch.tanh(self.items(items) + self.query(query).unsqueeze(1))
        scores = self.score(joint)
        return self.log_softmax(scores.squeeze(-1))


def make_batch(size=32, count=5):
    items = torch.randn(size, count, 3)
    answer = torch.randint(0, count, (size,))
    query = items[torch.arange(size), answer] + 0.1 * torch.randn(size, 3)
    return items, query, answer


model = Pointer()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
criterion = nn.NLLLoss()
losses = []
for step in range(30):
    items, query, answer = make_batch()
    loss = criterion(model(items, query), answer)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print("loss", round(sum(losses[-5:]) / 5, 4))
