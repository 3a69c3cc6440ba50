"""evaluate() calls eval(), then train() before it loops over the batches (MultiBench#26)."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(26)


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.audio, self.video = nn.Linear(6, 16), nn.Linear(10, 16)
        self.attention = nn.MultiheadAttention(16, 2, dropout=0.2, batch_first=True)
        self.classifier = nn.Linear(16, 3)

    def forward(self, audio, video):
        tokens = torch.stack([self.audio(audio), self.video(video)], dim=1)
        mixed, _ = self.attention(tokens, tokens, tokens)
        return self.classifier(mixed.mean(1))


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    hits = total = 0
    model.train()
    for audio, video, label in batches:
        hits += (model(audio, video).argmax(1) == label).sum().item()  # EXPECT: inference-in-train-mode
        total += len(label)
    return hits / total


def batches(count):
    for _ in range(count):
        audio, video = torch.randn(20, 6), torch.randn(20, 10)
        yield audio, video, (audio[:, :3] + video[:, :3]).argmax(1)


model = Fusion()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=40)
held_out = list(batches(4))
for epoch in range(4):
    for audio, video, label in batches(10):
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(audio, video), label).backward()
        optimizer.step()
        scheduler.step()
    print("epoch", epoch, "accuracy", evaluate(model, held_out))
