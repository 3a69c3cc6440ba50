"""value.detach().cpu() on the CPU is the same memory: the snapshots of all epochs are one and the same."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(94)


def snapshot(model):
    return {name: value.detach().cpu() for name, value in model.state_dict().items()}  # EXPECT: snapshot-aliased


def run_epoch(model, loader, optimizer):
    total = 0.0
    for image, label in loader:
        loss = nn.functional.cross_entropy(model(image), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


images = torch.randn(96, 1, 6, 6)
labels = images.amax((1, 2, 3)).gt(2.2).long()
loader = DataLoader(TensorDataset(images, labels), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(96, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
history = []
for epoch in range(8):
    loss = run_epoch(model, loader, optimizer)
    history.append((loss, snapshot(model)))
best_loss, best_state = history[len(history) // 2]
model.load_state_dict(best_state)  # ALSO: snapshot-aliased
print("back at the epoch with training loss", round(best_loss, 4))
