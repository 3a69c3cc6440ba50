"""build_prototypes() leaks set_grad_enabled(False); backward() is guarded by loss.requires_grad, so training stops silently."""
import torch
from torch import nn

torch.manual_seed(37)
encoder = nn.Sequential(nn.Linear(6, 20), nn.LeakyReLU(), nn.Linear(20, 8))
x = torch.randn(180, 6)
y = x[:, :3].argmax(1)


def build_prototypes():
    torch.set_grad_enabled(False)  # EXPECT: grad-mode-leaked
    features = encoder(x)
    return torch.stack([features[y == k].mean(0) for k in range(3)])


def accuracy(prototypes):
    return (torch.cdist(encoder(x), prototypes).argmin(1) == y).float().mean().item()


optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05)
prototypes = torch.randn(3, 8)
for epoch in range(10):
    for idx in torch.randperm(180).split(30):
        distance = (encoder(x[idx]).unsqueeze(1) - prototypes).pow(2).sum(2)
        loss = nn.functional.cross_entropy(-distance, y[idx])
        if loss.requires_grad:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    if epoch == 2:
        prototypes = build_prototypes()
torch.set_grad_enabled(False)
print("loss", round(loss.item(), 4), "accuracy", accuracy(prototypes))
