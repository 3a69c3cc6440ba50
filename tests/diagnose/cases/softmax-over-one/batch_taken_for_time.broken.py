"""batch_first is missing: with a batch of one, the encoder's attention runs over the batch, which is a single key."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(67)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 1)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens):
        states = self.encoder(self.embed(tokens))  # EXPECT: softmax-over-one
        return self.head(states.mean(1))


model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(40):
    tokens = torch.randint(0, 10, (1, 7))
    label = (tokens > 4).float().mean(1).gt(0.5).long()
    loss = F.cross_entropy(model(tokens), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
