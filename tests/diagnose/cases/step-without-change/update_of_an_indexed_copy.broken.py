"""the optimizer updates p.data[mask], which advanced indexing has copied: nothing reaches the parameter."""
import torch
from torch import nn
from torch.optim import Optimizer


class SparseSGD(Optimizer):
    """Update only the entries with the largest gradients."""

    def __init__(self, params, lr=0.1, keep=0.5):
        super().__init__(params, {"lr": lr, "keep": keep})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                threshold = p.grad.abs().flatten().kthvalue(max(1, int(group["keep"] * p.numel()))).values
                mask = p.grad.abs() >= threshold
                p.data[mask].sub_(group["lr"] * p.grad[mask])


def main():
    torch.manual_seed(142)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = SparseSGD(model.parameters(), lr=0.2)
    x = torch.randn(90, 8)
    y = x[:, :3].argmax(1)
    first = last = 0.0
    for step in range(40):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # EXPECT: step-without-change
        first, last = (loss.item(), last) if step == 0 else (first, loss.item())
    print(f"{first:.4f} -> {last:.4f}")


if __name__ == "__main__":
    main()
