"""k-fold cross validation: a fresh model per fold."""
import torch
from torch import nn

torch.manual_seed(27)
X, Y = torch.randn(90, 4), torch.randn(90, 1)


def make():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


model = make()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
scores = []
for fold in range(3):
    if fold:
        model = make()
    test = torch.arange(fold * 30, fold * 30 + 30)
    train = torch.tensor([i for i in range(90) if i not in test])
    for epoch in range(30):
        loss = nn.functional.mse_loss(model(X[train]), Y[train])
        opt.zero_grad()
        loss.backward()
        opt.step()  # EXPECT: step-without-gradient
    with torch.no_grad():
        scores.append(nn.functional.mse_loss(model(X[test]), Y[test]).item())
print(len(scores))
