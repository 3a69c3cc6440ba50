"""Legitimate twin: the optimizer works on float32 master copies, the bfloat16 gains follow them."""
import torch

torch.manual_seed(43)

features = torch.randn(200, 6)
target = features @ torch.tensor([1.2, 0.7, 1.1, 0.9, 1.4, 0.8])
gains = torch.ones(6, dtype=torch.bfloat16, requires_grad=True)
master = torch.ones(6, requires_grad=True)
optimizer = torch.optim.SGD([master], lr=2e-3)


def loss_on(rows):
    prediction = (features[rows].bfloat16() * gains).sum(1)
    return (prediction.float() - target[rows]).pow(2).mean()


def update(loss):
    gains.grad = None
    loss.backward()
    master.grad = gains.grad.float()
    optimizer.step()
    with torch.no_grad():
        gains.copy_(master)


history = []
for epoch in range(8):
    for rows in torch.randperm(200).split(40):
        loss = loss_on(rows)
        update(loss)
        history.append(loss.item())
print(f"first {history[0]:.4f} last {history[-1]:.4f}", "gains", gains.tolist())
