"""Only the validation pass feeds probabilities into cross entropy."""
import torch
from torch import nn
import torch.nn.functional as F


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 5))

    def forward(self, x):
        return self.net(x)

    def predict(self, x):
        return F.softmax(self(x), dim=-1)


@torch.inference_mode()
def validate(model, x, y, criterion):
    model.eval()
    loss = criterion(model.predict(x), y)  # EXPECT: softmax-twice
    acc = (model.predict(x).argmax(1) == y).float().mean()
    model.train()
    return loss.item(), acc.item()


torch.manual_seed(15)
model, criterion = Classifier(), nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), 5e-3)
X = torch.randn(400, 8)
Y = X[:, :5].argmax(1)
for epoch in range(5):
    for i in range(0, 300, 30):
        loss = criterion(model(X[i:i + 30]), Y[i:i + 30])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, "%.3f %.2f" % validate(model, X[300:], Y[300:], criterion))
