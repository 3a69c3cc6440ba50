"""The validation loss for ReduceLROnPlateau is computed with a graph each epoch, and only its number is used."""
import torch
from torch import nn

torch.manual_seed(6)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 12, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(12, 1)

    def forward(self, windows):
        states, _ = self.lstm(windows)
        return self.head(self.drop(states[:, -1]))


series = torch.sin(torch.arange(0, 40, 0.25)) + 0.05 * torch.randn(160)
windows = series.unfold(0, 9, 1)
train_set, valid_set = windows[:110], windows[110:]
model = Forecaster()
criterion = nn.HuberLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
best, waited, epoch = float("inf"), 0, 0
while epoch < 16 and waited < 12:
    model.train()
    for batch in train_set.split(55):
        optimizer.zero_grad()
        loss = criterion(model(batch[:, :-1, None]), batch[:, -1:])
        loss.backward()
        optimizer.step()
    model.eval()
    validation = criterion(model(valid_set[:, :-1, None]), valid_set[:, -1:]).item()  # EXPECT: graph-built-unused
    scheduler.step(validation)
    waited = 0 if validation < best else waited + 1
    best = min(best, validation)
    epoch += 1
print("best", round(best, 4), "after", epoch, "epochs")
