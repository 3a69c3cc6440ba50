"""Greedy decoding after training in eval mode; then an uncertainty from dropout kept on, on purpose."""
import torch
from torch import nn

torch.manual_seed(36)
PAD, BOS = 0, 1


class Seq2Seq(nn.Module):
    def __init__(self, words=12, width=20):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.embedding_dropout = nn.Dropout(0.2)
        self.encoder, self.decoder = nn.GRU(width, width, batch_first=True), nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, source, target_in):
        _, state = self.encoder(self.embedding_dropout(self.embedding(source)))
        states, _ = self.decoder(self.embedding_dropout(self.embedding(target_in)), state)
        return self.out(states)


def translate(model, source, length):
    output = torch.full((len(source), 1), BOS)
    with torch.no_grad():
        for _ in range(length):
            logits = model(source, output)
            output = torch.cat([output, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    return output[:, 1:]


source = torch.randint(2, 12, (64, 5))
target = source.flip(1)
target_in = torch.cat([torch.full((64, 1), BOS), target[:, :-1]], dim=1)
model = Seq2Seq()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    rows = torch.randint(0, 64, (16,))
    loss = nn.functional.cross_entropy(model(source[rows], target_in[rows]).flatten(0, 1), target[rows].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
translated = translate(model, source, 5)
print("exact", (translated == target).all(1).float().mean().item(), "loss", round(loss.item(), 3))
model.train()
with torch.no_grad():
    samples = torch.stack([model(source[:8], target_in[:8]).softmax(-1) for _ in range(12)])
print("uncertainty", round(samples.std(0).mean().item(), 4))
