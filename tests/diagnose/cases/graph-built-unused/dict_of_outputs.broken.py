"""a finished model returns a dict; its outputs are read as numbers, and recording was on all the time."""
import torch
from torch import nn

torch.manual_seed(52)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Conv2d(1, 4, 3)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        features = self.features(x).relu().mean((2, 3))
        return {"logits": self.head(features), "features": features}


model = Detector().eval()
predictions = []
with torch.enable_grad():
    for images in torch.randn(15, 2, 1, 8, 8):
        out = model(images)
        p = out["logits"].softmax(-1)  # EXPECT: graph-built-unused
        predictions.extend(p.argmax(-1).tolist())
print("positive", sum(predictions), "of", len(predictions))
