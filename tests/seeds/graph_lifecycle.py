# io.thecodeforge: Computational graph lifecycle and memory management
# Understanding this code is the key to diagnosing most PyTorch memory issues
import clarion as torch

# === GRAPH CONSTRUCTION ===
# Each operation creates a Function node that chains backward through next_functions
x = torch.randn(3, 3, requires_grad=True)
y = x * 2  # MulBackward0 node created, stores reference to x
z = y.sum()  # SumBackward0 node created, stores reference to y
print(f"z.grad_fn: {z.grad_fn}")  # SumBackward0
print(f"z.grad_fn.next_functions: {z.grad_fn.next_functions}")  # -> MulBackward0
print(f"MulBackward0.next_functions: {z.grad_fn.next_functions[0][0].next_functions}")  # -> AccumulateGrad (the leaf x)

# === RETENTION PHASE ===
# The graph is in memory between the forward pass completion and backward()
# Every intermediate tensor y is held alive by the graph during this window

# === DESTRUCTION — default behavior ===
z.backward()  # Graph traversed, gradients computed, graph freed
print(f"d(z)/dx:\n{x.grad}")  # tensor([[2., 2., 2.], ...])

# Attempting backward again raises RuntimeError — graph is gone
try:
    z.backward()
except RuntimeError as e:
    print(f"Expected error: {e[:80]}...")

# === retain_graph=True — use sparingly ===
x.grad = None  # Reset gradient before next backward
y2 = x * 3
z2 = y2.sum()

# retain_graph=True keeps the graph alive after backward
# Use ONLY when you need multiple backward passes on the same graph
# (e.g., computing gradients of multiple scalar outputs separately)
z2.backward(retain_graph=True)  # Graph retained
first_grad = x.grad.clone()
print(f"After first backward (retain_graph=True):\n{first_grad}")
z2.backward()  # Second backward works — but gradients are ACCUMULATED
print(f"After second backward (accumulated):\n{x.grad}")
# x.grad is now 2x the correct gradient — accumulated, not replaced
# This is why retain_graph in a loop causes exponential gradient growth

# === MEMORY LEAK PATTERN — what NOT to do ===
# This pattern causes GPU memory to grow linearly with training steps:
# loss_history = []
# for batch in dataloader:
#     loss = model(batch)
#     loss_history.append(loss)  # WRONG: holds entire graph for every batch
#     loss.backward()
#
# Correct:
#     loss_history.append(loss.item())  # Python float, no graph reference
