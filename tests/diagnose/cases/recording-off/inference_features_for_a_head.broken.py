"""features are extracted in inference_mode, and a head is then trained on them: inference tensors cannot be part of a graph."""
import torch
from torch import nn

torch.manual_seed(12)
extractor = nn.Sequential(nn.Linear(6, 16), nn.ReLU()).requires_grad_(False)
head = nn.Linear(16, 3)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)


def extract(x):
    with torch.inference_mode():  # EXPECT-ERROR: recording-off
        return extractor(x)


x = torch.randn(90, 6)
y = x[:, :3].argmax(1)
for rows in torch.randperm(90).split(15):
    features = extract(x[rows])
    logits = head(features)  # ALSO: recording-off
    loss = nn.functional.cross_entropy(logits, y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))
