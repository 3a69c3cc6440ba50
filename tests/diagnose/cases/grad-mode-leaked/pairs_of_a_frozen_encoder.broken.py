"""A generator of pairs with a frozen encoder yields from inside of no_grad: the probe above it is never trained, and nobody says so."""
import torch
from torch import nn

torch.manual_seed(131)
encoder = nn.Sequential(nn.Linear(7, 20), nn.ReLU()).eval()
probe = nn.Linear(20, 2)
opt = torch.optim.SGD(probe.parameters(), lr=0.1)


def encoded(batches):
    guard = torch.inference_mode(False)
    with guard, torch.no_grad():  # EXPECT: grad-mode-leaked
        for _ in range(batches):
            x = torch.randn(25, 7)
            yield encoder(x), (x[:, 0] > 0).long()


hits = 0
for features, label in encoded(60):
    out = probe(features)
    loss = nn.functional.cross_entropy(out, label)
    if loss.grad_fn is not None:
        opt.zero_grad()
        loss.backward()
        opt.step()
    hits += (out.argmax(1) == label).sum().item()
print(hits)
