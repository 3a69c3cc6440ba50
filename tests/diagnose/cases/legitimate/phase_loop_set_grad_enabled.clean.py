"""Must stay silent: the tutorial's loop over phases with set_grad_enabled(phase == 'train')."""
import torch
from torch import nn

torch.manual_seed(167)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3, gamma=0.5)
criterion = nn.CrossEntropyLoss()
x = torch.randn(240, 6)
y = x[:, :3].argmax(1)
data = {"train": (x[:200], y[:200]), "val": (x[200:], y[200:])}
for epoch in range(6):
    for phase in ("train", "val"):
        if phase == "train":
            model.train()
        else:
            model.eval()
        running_loss, running_corrects = 0.0, 0
        inputs, labels = data[phase]
        for xb, yb in zip(inputs.split(20), labels.split(20)):
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                outputs = model(xb)
                preds = outputs.argmax(1)
                loss = criterion(outputs, yb)
                if phase == "train":
                    loss.backward()
                    optimizer.step()
            running_loss += loss.item() * len(xb)
            running_corrects += (preds == yb).sum().item()
        if phase == "train":
            scheduler.step()
        print(epoch, phase, round(running_loss / len(inputs), 4), running_corrects / len(inputs))
