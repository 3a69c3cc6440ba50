"""A test after the training divides by the batch, scales and joins: its scores are probabilities."""
import torch
from torch import nn

torch.manual_seed(16)
net = nn.Linear(6, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss(reduction="sum")
for it in range(260):
    x = torch.randn(20, 6)
    loss = loss_fn(net(x), x[:, :4].argmax(1)) / 20
    opt.zero_grad()
    loss.backward()
    opt.step()
net.eval()
total, probs = 0.0, []
with torch.no_grad():
    for _ in range(5):
        x = torch.randn(20, 6)
        p = net(x).softmax(1)
        probs.append(p)
        total += loss_fn(p, x[:, :4].argmax(1)).item()  # EXPECT: softmax-twice
print(f"{total / 100:.3f}", f"{torch.cat(probs).max(1).values.mean().item():.2f}")
