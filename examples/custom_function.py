"""A solver written in NumPy becomes part of the graph, and what a rod is made of is learned from its temperatures.

`Solve` wraps numpy.linalg.solve. Its gradient is another solve, with the transposed matrix; because backward() calls
Solve itself, second derivatives work too.
"""

import numpy as np

import clarion as torch
from clarion import optim

CELLS, MOMENTS = 24, 6


class Solve(torch.autograd.Function):
    """x with matrix @ x = right."""

    @staticmethod
    def forward(ctx, matrix, right):
        x = torch.from_numpy(np.linalg.solve(matrix.detach().cpu().numpy(), right.detach().cpu().numpy()))
        ctx.save_for_backward(matrix, x)
        return x

    @staticmethod
    def backward(ctx, grad):
        matrix, x = ctx.saved_tensors
        grad_right = Solve.apply(matrix.T, grad)
        grad_matrix = -torch.outer(grad_right, x) if ctx.needs_input_grad[0] else None
        return grad_matrix, grad_right


def cool_down(conductivity: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    """Temperatures of the rod over time: backward Euler steps of the heat equation, (MOMENTS, CELLS)."""
    flow = torch.diff(torch.eye(CELLS, dtype=conductivity.dtype), dim=0)
    matrix = torch.eye(CELLS, dtype=conductivity.dtype) + flow.T @ (conductivity[:, None] * flow)
    states = []
    for _ in range(MOMENTS):
        temperature = Solve.apply(matrix, temperature)
        states.append(temperature)
    return torch.stack(states)


def run(steps: int = 300) -> list[float]:
    torch.manual_seed(0)
    matrix = (torch.randn(4, 4, dtype=torch.float64) + 4 * torch.eye(4, dtype=torch.float64)).requires_grad_()
    right = torch.randn(4, dtype=torch.float64, requires_grad=True)
    print("gradients agree with finite differences:", torch.autograd.gradcheck(Solve.apply, (matrix, right)))
    print("second derivatives too:", torch.autograd.gradgradcheck(Solve.apply, (matrix, right)))

    true = torch.full((CELLS - 1,), 2.0)
    true[8:14] = 0.4  # an insulating part
    start = 1 + torch.sin(torch.linspace(0, 9, CELLS))
    measured = cool_down(true, start)
    logarithm = torch.zeros(CELLS - 1, requires_grad=True)
    optimizer = optim.Adam([logarithm], lr=0.05)
    losses = []
    for step in range(1, steps + 1):
        loss = (cool_down(logarithm.exp(), start) - measured).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 100 == 0:
            print(f"step {step:4}  error {loss.item():.2e}")
    print("conductivity, true: ", " ".join(f"{v:.1f}" for v in true.tolist()))
    print("conductivity, found:", " ".join(f"{v:.1f}" for v in logarithm.exp().tolist()))
    return losses


if __name__ == "__main__":
    run()
