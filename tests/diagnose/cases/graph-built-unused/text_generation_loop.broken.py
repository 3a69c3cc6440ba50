"""characters are sampled one by one in eval mode with recording on; the graph of every character is built for nothing."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(27)


class CharModel(nn.Module):
    def __init__(self, vocab=9):
        super().__init__()
        self.embed = nn.Embedding(vocab, 12)
        self.layer = nn.TransformerEncoderLayer(12, 2, 24, dropout=0.1, batch_first=True)
        self.head = nn.Linear(12, vocab)

    def forward(self, tokens):
        return self.from_embedding(self.embed(tokens))

    def from_embedding(self, emb):
        return self.head(self.layer(emb)[:, -1])  # EXPECT: graph-built-unused


def generate(model, prompt, length=24):
    for _ in range(length):
        logits = model(prompt[:, -8:])
        prompt = torch.cat([prompt, logits.argmax(1, keepdim=True)], dim=1)
    return prompt


windows = torch.arange(207).remainder(9).unfold(0, 9, 1)
model = CharModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(30):
    batch = windows[torch.randint(0, len(windows), (16,))]
    loss = F.cross_entropy(model(batch[:, :-1]), batch[:, -1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
print("loss", round(loss.item(), 4), generate(model, windows[:1, :8])[0].tolist())
