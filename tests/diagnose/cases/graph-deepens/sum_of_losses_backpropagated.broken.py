"""The running total is what backward is called on, so each step differentiates every batch so far (SO 53994625)."""
import torch
from torch import nn

torch.manual_seed(13)
x = torch.randn(300, 7)
y = (x @ torch.randn(7, 3)).argmax(1)
model = nn.Linear(7, 3)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
total_loss = torch.zeros(())
step = 0
while step < 24:
    rows = torch.randint(0, 300, (30,))
    logits = model(x[rows])
    loss = criterion(logits, y[rows])
    total_loss = total_loss + loss  # EXPECT: graph-deepens
    optimizer.zero_grad()
    total_loss.backward(retain_graph=True)
    optimizer.step()
    step += 1
with torch.no_grad():
    accuracy = (model(x).argmax(1) == y).float().mean()
print("accuracy", round(accuracy.item(), 3), "mean loss", round(float(total_loss) / step, 3))
