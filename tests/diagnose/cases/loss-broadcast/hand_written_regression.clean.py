"""Legitimate twin: targets as a column; the features are centred with a broadcast mean, which is no loss."""
import torch

torch.manual_seed(12)


def predict(x, w, b):
    return x @ w + b


def squared_error(prediction, target):
    difference = prediction - target
    return (difference**2).mean()


x = torch.randn(120, 3) * torch.tensor([1.0, 2.0, 0.5]) + 3
x = (x - x.mean(0)) / x.std(0)
y = x @ torch.tensor([[1.5], [-2.0], [0.3]]) + 0.7
w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w, b], lr=0.1)
for step in range(40):
    loss = squared_error(predict(x, w, b), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, round(loss.item(), 5))
print("w", w.detach().flatten().tolist(), "b", round(b.item(), 3))
