"""accuracy needs no gradient, yet the test loop's forward passes record graphs that argmax then throws away."""
import torch
from torch import nn

torch.manual_seed(16)


class GRUClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(16, 12)
        self.gru = nn.GRU(12, 24, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(24, 2)

    def forward(self, tokens):
        _, h = self.gru(self.embed(tokens))
        return self.out(self.drop(h[-1]))  # EXPECT: graph-built-unused


def test(model, tokens, labels):
    model.eval()
    correct = 0
    for t, y in zip(tokens.split(16), labels.split(16)):
        prediction = model(t).argmax(dim=1)
        correct += (prediction == y).sum().item()
    return correct / len(labels)


tokens = torch.randint(0, 16, (480, 10))
labels = (tokens.float().mean(1) > 7.5).long()
model = GRUClassifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(30):
    idx = torch.randint(0, 160, (16,))
    loss = nn.functional.cross_entropy(model(tokens[idx]), labels[idx])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4), "test accuracy", test(model, tokens[160:], labels[160:]))
