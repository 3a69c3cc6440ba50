"""Validation every 15 batches inside the epoch; train() comes only at the start of the next epoch (vsepp#4)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)


class Matcher(nn.Module):
    """Two towers and a cosine."""

    def __init__(self):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(12, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 8))
        self.text = nn.Sequential(nn.Linear(6, 24), nn.Dropout(0.3), nn.ReLU(), nn.Linear(24, 8))

    def val_start(self):
        self.image.eval()  # EXPECT: training-in-eval-mode
        self.text.eval()  # MAY: training-in-eval-mode

    def train_start(self):
        self.image.train()
        self.text.train()

    def forward(self, image, text):
        return nn.functional.cosine_similarity(self.image(image), self.text(text))


def validate(model, image, text):
    model.val_start()
    with torch.no_grad():
        score = model(image, text).mean().item()
    return score


image = torch.randn(400, 12)
text = image[:, :6] + 0.1 * torch.randn(400, 6)
model = Matcher()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
iteration = 0
for epoch in range(2):
    model.train_start()
    for a, b in DataLoader(TensorDataset(image[:360], text[:360]), batch_size=8, shuffle=True):
        loss = (1 - model(a, b)).mean() + torch.relu(model(a, b.roll(1, 0)) - 0.2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # ALSO: training-in-eval-mode
        iteration += 1
        if iteration % 15 == 0:
            score = validate(model, image[360:], text[360:])
print("similarity", round(score, 3))
