"""The decoder attends over the encoder's last state only (kept with an axis of one), so attention does nothing."""
import math
import torch
from torch import nn

torch.manual_seed(8)
V, D = 12, 24


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(V, D)
        self.encoder = nn.LSTM(D, D, batch_first=True)
        self.cell = nn.GRUCell(D, D)
        self.query, self.key, self.value = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D)
        self.out = nn.Linear(2 * D, V)

    def attend(self, state, memory):
        scores = (self.query(state).unsqueeze(1) * self.key(memory)).sum(-1) / math.sqrt(D)
        weights = scores.softmax(dim=1)  # EXPECT: softmax-over-one
        return (weights.unsqueeze(-1) * self.value(memory)).sum(1)

    def forward(self, source, target):
        _, (last, _) = self.encoder(self.embed(source))
        memory = last.transpose(0, 1)
        state, logits = last[0], []
        for token in target.unbind(1):
            state = self.cell(self.embed(token), state)
            logits.append(self.out(torch.cat([state, self.attend(state, memory)], dim=1)))
        return torch.stack(logits, dim=1)


model = Decoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(40):
    source = torch.randint(1, V, (16, 5))
    shifted = torch.cat([torch.zeros(16, 1, dtype=torch.long), source[:, :-1]], dim=1)
    logits = model(source, shifted)
    loss = nn.functional.cross_entropy(logits.reshape(-1, V), source.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 4))
