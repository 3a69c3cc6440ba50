# io.thecodeforge: Standard Autograd and Backpropagation Flow
# This example walks through every step of the gradient computation
# so you can see what Autograd is doing at each stage.
import clarion as torch

# requires_grad=True marks x as a leaf tensor whose gradient we want.
# Autograd will track every operation performed on x.
x = torch.ones(2, 2, requires_grad=True)
print(f"x.requires_grad: {x.requires_grad}")
print(f"x.grad_fn: {x.grad_fn}")  # None — x is a leaf, not computed from another tensor

# Forward pass — each operation creates a Function node in the graph
y = x + 2
print(f"y.grad_fn: {y.grad_fn}")  # AddBackward0 — knows how to compute its gradient
z = y * y * 3
print(f"z.grad_fn: {z.grad_fn}")  # MulBackward0
out = z.mean()
print(f"out.grad_fn: {out.grad_fn}")  # MeanBackward0
print(f"Forward Pass Result: {out.item()}")

# Backward pass — traverse the graph in reverse, applying Chain Rule at each node
# PyTorch computes d(out)/dx automatically
out.backward()

# x.grad now contains d(out)/dx
# Manual derivation: out = z.mean() = (3 * (x+2)^2).mean()
# d(out)/dx = 3 * 2 * (x+2) / 4 = 3 * 2 * 3 / 4 = 4.5 at x=1
print(f"Gradients d(out)/dx:\n{x.grad}")  # Expected: all 4.5 because x was initialized to ones

# The graph is destroyed after backward() — calling again raises RuntimeError
# This is intentional memory management, not a limitation
