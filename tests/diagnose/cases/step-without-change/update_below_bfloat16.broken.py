"""gains near 1 are kept in bfloat16, whose spacing there is larger than every update: each one rounds away."""
import torch

torch.manual_seed(43)

features = torch.randn(200, 6)
target = features @ torch.tensor([1.2, 0.7, 1.1, 0.9, 1.4, 0.8])
gains = torch.ones(6, dtype=torch.bfloat16, requires_grad=True)
optimizer = torch.optim.SGD([gains], lr=2e-3)


def loss_on(rows):
    prediction = (features[rows].bfloat16() * gains).sum(1)
    return (prediction.float() - target[rows]).pow(2).mean()


def update(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # EXPECT: step-without-change


history = []
for epoch in range(8):
    for rows in torch.randperm(200).split(40):
        loss = loss_on(rows)
        update(loss)
        history.append(loss.item())
print(f"first {history[0]:.4f} last {history[-1]:.4f}", "gains", gains.tolist())
