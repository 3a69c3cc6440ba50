"""Must stay silent: distillation; soft targets through softmax and log_softmax with temperature, teacher under no_grad."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(113)
T = 3.0


def fit(model, loader, loss_of, epochs, lr=5e-3):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(epochs):
        for xb, yb in loader:
            loss = loss_of(model, xb, yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


x = torch.randn(200, 8)
y = x[:, :4].argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=25, shuffle=True)
teacher = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 4))
print("teacher", round(fit(teacher, loader, lambda m, a, b: F.cross_entropy(m(a), b), epochs=4), 4))
teacher.eval()


def distil(student, xb, yb):
    with torch.no_grad():
        soft = F.softmax(teacher(xb) / T, dim=1)
    logits = student(xb)
    kl = F.kl_div(F.log_softmax(logits / T, dim=1), soft, reduction="batchmean") * T * T
    return 0.7 * kl + 0.3 * F.cross_entropy(logits, yb)


student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
print("student", round(fit(student, loader, distil, epochs=5), 4))
