"""Must stay silent: a fast-gradient attack in eval mode; the attacked images are classified with recording on, as in the well-known tutorial."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(53)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    F.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
    optimizer.step()
model.eval()
correct = 0
for image in torch.randn(40, 1, 6):
    label = image[:, :3].argmax(1)
    image.requires_grad = True
    output = model(image)
    if output.argmax(1).item() != label.item():
        continue
    loss = F.nll_loss(F.log_softmax(output, 1), label)
    model.zero_grad()
    loss.backward()
    attacked = image + 0.1 * image.grad.sign()
    correct += model(attacked).argmax(1).item() == label.item()
print("correct under attack", correct)
