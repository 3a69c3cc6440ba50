"""Training for weights of two bits: rounded in the forward pass, as if not rounded in the backward pass."""

from digits import load_digits

import clarion as torch
from clarion import nn, optim
from clarion.nn import functional as F

LEVELS = 1  # weights become -1, 0 or 1 times a scale of their layer


class Round(torch.autograd.Function):
    """Rounding to whole numbers within ±LEVELS; gradients pass straight through where nothing was cut off."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.abs() <= LEVELS + 0.5)
        return x.round().clamp(-LEVELS, LEVELS)

    @staticmethod
    def backward(ctx, grad):
        (inside,) = ctx.saved_tensors
        return grad * inside


def quantised(weight: torch.Tensor) -> torch.Tensor:
    scale = 1.5 * weight.detach().abs().mean()
    return Round.apply(weight / scale) * scale


class QuantisedLinear(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, quantised(self.weight), self.bias)


def network(layer: type[nn.Linear]) -> nn.Sequential:
    return nn.Sequential(layer(64, 64), nn.ReLU(), layer(64, 32), nn.ReLU(), layer(32, 10))


def train(model: nn.Module, images: torch.Tensor, labels: torch.Tensor, steps: int) -> list[float]:
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for step in range(1, steps + 1):
        rows = torch.randint(len(images), (64,))
        loss = F.cross_entropy(model(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 200 == 0:
            print(f"  step {step:4}  loss {loss.item():.4f}")
    return losses


@torch.no_grad()
def accuracy(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    return (model(images).argmax(dim=1) == labels).float().mean().item()


def run(steps: int = 400) -> list[float]:
    images, labels, *test = map(torch.from_numpy, load_digits())

    print("weights in 32 bits:")
    torch.manual_seed(0)
    plain = network(nn.Linear)
    train(plain, images, labels, steps)
    rounded = network(QuantisedLinear)
    rounded.load_state_dict(plain.state_dict())

    print("trained with rounded weights:")
    torch.manual_seed(0)
    aware = network(QuantisedLinear)
    losses = train(aware, images, labels, steps)

    print(f"test accuracy: 32 bits {accuracy(plain, *test):.1%}, rounded afterwards {accuracy(rounded, *test):.1%}")
    print(f"               trained with rounded weights {accuracy(aware, *test):.1%}")
    return losses


if __name__ == "__main__":
    run()
