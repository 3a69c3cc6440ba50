"""a learning rate of 1e-12 is smaller than the rounding of the weights, so no update survives."""
import torch

torch.manual_seed(70)

points = torch.randn(80, 3)
side = torch.sign(points @ torch.tensor([1.0, -2.0, 0.5]) + 0.05)
points = points + 0.4 * side.unsqueeze(1) * torch.tensor([1.0, -2.0, 0.5])


class LinearSVM:
    def __init__(self, lr):
        self.weight = torch.full((3,), 0.3, requires_grad=True)
        self.bias = torch.full((1,), 0.2, requires_grad=True)
        self.optimizer = torch.optim.SGD([self.weight, self.bias], lr=lr)

    def loss(self, x, y):
        margin = y * (x @ self.weight + self.bias)
        return (1 - margin).clamp(min=0).mean()

    def fit_batch(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss(x, y)
        loss.backward()
        self.optimizer.step()  # EXPECT: step-without-change
        return loss.item()


svm = LinearSVM(lr=1e-12)
for epoch in range(10):
    losses = [svm.fit_batch(points[i::4], side[i::4]) for i in range(4)]
    print("epoch", epoch, "hinge", round(sum(losses) / 4, 5))
print("weight", svm.weight.tolist())
