"""forward() ends in self.softmax for the users of predict(), and the trainer hands it to CrossEntropyLoss (LRCN#4)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(62)


class ActivityNet(nn.Module):
    """Frames -> LSTM -> attention -> class."""

    def __init__(self, frame=10, hidden=16, classes=4):
        super().__init__()
        self.lstm = nn.LSTM(frame, hidden, batch_first=True)
        self.attention = nn.Linear(hidden, 1)
        self.fc = nn.Linear(hidden, classes)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, clips):
        states, _ = self.lstm(clips)
        weights = self.softmax(self.attention(states))
        pooled = (weights * states).sum(1)
        return self.softmax(self.fc(pooled))  # ALSO: softmax-twice

    def predict(self, clips):
        return self(clips).argmax(1)


def train_epoch(model, loader, criterion, optimizer):
    total = 0.0
    for clips, classes in loader:
        optimizer.zero_grad()
        outputs = model(clips)
        loss = criterion(outputs, classes)  # EXPECT: softmax-twice
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
        total += loss.item()
    return total / len(loader)


clips = torch.randn(96, 6, 10)
classes = clips.mean(1)[:, :4].argmax(1)
loader = DataLoader(TensorDataset(clips, classes), batch_size=16, shuffle=True, num_workers=0)
model = ActivityNet()
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.0, 2.0, 1.0]), label_smoothing=0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    print("epoch", epoch, round(train_epoch(model, loader, criterion, optimizer), 4))
print("accuracy", (model.predict(clips) == classes).float().mean().item())
