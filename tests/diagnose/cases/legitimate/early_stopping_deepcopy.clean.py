"""Must stay silent: early stopping that keeps deepcopy(state_dict()) and restores it."""
import copy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(162)
x = torch.randn(200, 6)
y = (x[:, :1] * 1.5).sin() + 0.4 * torch.randn(200, 1)
train_set, valid_set = random_split(TensorDataset(x, y), [150, 50])
train_loader = DataLoader(train_set, batch_size=25, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=50)
model = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Dropout(0.1), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
best_loss, best_state, patience = float("inf"), None, 0
for epoch in range(15):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        validation = sum(nn.functional.mse_loss(model(xb), yb).item() for xb, yb in valid_loader)
    if validation < best_loss:
        best_loss, best_state, patience = validation, copy.deepcopy(model.state_dict()), 0
    else:
        patience += 1
        if patience == 4:
            break
model.load_state_dict(best_state)
print("epochs", epoch + 1, "best", round(best_loss, 4))
