"""A mixed-precision recipe with retain_graph=True copied from a two-loss example (SoftMaskedBert#15)."""
import torch
from torch import nn

torch.manual_seed(9)


class Tagger(nn.Module):
    def __init__(self, words=30, tags=4):
        super().__init__()
        self.embedding = nn.Embedding(words, 12)
        self.gru = nn.GRU(12, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, tags)

    def forward(self, tokens):
        states, _ = self.gru(self.embedding(tokens))
        return self.out(states), states


def train_epoch(model, tokens, tags, optimizer, scaler, scheduler):
    model.train()
    for rows in torch.randperm(len(tokens)).split(20):
        optimizer.zero_grad(set_to_none=True)
        logits, states = model(tokens[rows])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tags[rows].flatten())
        loss = loss + 1e-3 * states.pow(2).mean()
        scaler.scale(loss).backward(retain_graph=True)  # EXPECT: graph-retained-unused
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
    return loss.item()


tokens = torch.randint(0, 30, (80, 9))
tags = tokens % 4
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler("cpu", enabled=False)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
for epoch in range(3):
    print("epoch", epoch, round(train_epoch(model, tokens, tags, optimizer, scaler, scheduler), 4))
