"""Attention pooling normalises the scores over their last axis, which has one element, instead of over time."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(4)


class AttentionPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(dim, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, states):
        scores = self.score(states)
        weights = F.softmax(scores, dim=-1)  # EXPECT: softmax-over-one
        return (weights * states).sum(1)


class SentimentNet(nn.Module):
    def __init__(self, vocab=50, dim=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.pool = AttentionPool(dim)
        self.head = nn.Linear(dim, 2)

    def forward(self, tokens):
        states, _ = self.rnn(self.embed(tokens))
        return self.head(self.pool(states))


model = SentimentNet()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(50):
    tokens = torch.randint(0, 50, (16, 9))
    label = (tokens < 25).float().mean(1).gt(0.5).long()
    loss = F.cross_entropy(model(tokens), label)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
