"""the classifier's predict() is decorated with inference_mode, which does not switch off the transformer's dropout."""
import torch
from torch import nn

torch.manual_seed(7)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.2, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(16, 2)

    def forward(self, tokens):
        return self.head(self.encoder(self.embed(tokens)).mean(1))

    @torch.inference_mode()
    def predict(self, tokens):
        return self(tokens).argmax(1)  # EXPECT: inference-in-train-mode


tokens = torch.randint(0, 12, (120, 6))
labels = (tokens.float().mean(1) > 5.5).long()
model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(40):
    idx = torch.randint(0, 96, (16,))
    loss = nn.functional.cross_entropy(model(tokens[idx]), labels[idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        hits = (model.predict(tokens[96:]) == labels[96:]).float().mean().item()
        print("step", step, "loss", round(loss.item(), 4), "accuracy", round(hits, 3))
