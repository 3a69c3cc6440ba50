"""An index of embeddings is built in eval mode under inference_mode."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(12)


class Encoder(nn.Module):
    def __init__(self, words=50, width=24):
        super().__init__()
        self.embedding = nn.EmbeddingBag(words, width)
        self.mlp = nn.Sequential(nn.Linear(width, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, width))

    def forward(self, tokens):
        return self.mlp(self.embedding(tokens))


def train(encoder, documents, steps=15):
    optimizer = torch.optim.Adam(encoder.parameters(), lr=3e-3)
    encoder.train()
    for _ in range(steps):
        rows = torch.randint(0, len(documents), (16,))
        left, right = (F.normalize(encoder(documents[rows]), dim=1) for _ in range(2))
        loss = F.cross_entropy(left @ right.T / 0.1, torch.arange(16))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.inference_mode()
def build_index(encoder, documents):
    encoder.eval()
    index = []
    for batch in documents.split(8):
        vectors = F.normalize(encoder(batch), dim=1)
        index.append(vectors.numpy())
    return index


documents = torch.randint(0, 50, (160, 7))
encoder = Encoder()
train(encoder, documents)
index = build_index(encoder, documents)
print("indexed", sum(len(part) for part in index), "documents of width", index[0].shape[1])
