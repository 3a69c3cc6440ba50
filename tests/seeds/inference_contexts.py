# io.thecodeforge: Comparing inference contexts — performance and safety
import time

import clarion as torch
import clarion.nn as nn

model = nn.Sequential(
    nn.Linear(1024, 2048),
    nn.ReLU(),
    nn.Linear(2048, 2048),
    nn.ReLU(),
    nn.Linear(2048, 1024),
    nn.ReLU(),
    nn.Linear(1024, 10),
)
x = torch.randn(256, 1024)
N_ITER = 1000

# === Benchmark 1: Default (graph tracking enabled) ===
# Builds the full computational graph for every forward pass
# Memory: graph + all intermediates allocated
start = time.perf_counter()
for _ in range(N_ITER):
    _ = model(x)
default_time = time.perf_counter() - start

# === Benchmark 2: torch.no_grad() ===
# Disables gradient computation but still increments version counters
# Appropriate for validation during training (safe to mix with tracked ops)
start = time.perf_counter()
for _ in range(N_ITER):
    with torch.no_grad():
        _ = model(x)
no_grad_time = time.perf_counter() - start

# === Benchmark 3: torch.inference_mode() ===
# Disables gradient computation AND version tracking
# Maximum performance for pure inference — use for production serving
start = time.perf_counter()
for _ in range(N_ITER):
    with torch.inference_mode():
        _ = model(x)
inference_time = time.perf_counter() - start

print(f"Default (graph tracking): {default_time:.3f}s (baseline)")
print(f"no_grad(): {no_grad_time:.3f}s ({(1 - no_grad_time / default_time) * 100:.1f}% faster)")
print(f"inference_mode(): {inference_time:.3f}s ({(1 - inference_time / default_time) * 100:.1f}% faster)")

# === Correct usage patterns ===

# Pattern 1: Production inference — always use inference_mode
with torch.inference_mode():
    predictions = model(x)
# predictions.requires_grad is False — cannot call backward on them
# This is correct for serving: predictions are outputs, not training intermediates

# Pattern 2: Validation during training — no_grad is appropriate
# because you are still in a training context and may mix with gradient operations
loss = torch.tensor(0.5, requires_grad=True)  # example tracked tensor
with torch.no_grad():
    val_output = model(x)  # no gradient tracked for this
# loss.backward() still works here — no_grad only affected val_output

# Pattern 3: .detach() for logging a specific tensor
training_loss = torch.tensor(1.23, requires_grad=True)  # has grad_fn
loss_for_log = training_loss.detach()  # same value, no graph reference
loss_scalar = training_loss.item()  # Python float, no tensor at all
print(f"\nTraining loss requires_grad: {training_loss.requires_grad}")
print(f"Detached loss requires_grad: {loss_for_log.requires_grad}")
print(f".item() returns Python type: {type(loss_scalar)}")

# Pattern 4: .detach() to break gradient flow within a model
# Use when you want one branch to not affect gradients of shared layers
encoder_output = torch.randn(8, 128, requires_grad=True)
stop_gradient = encoder_output.detach()  # downstream ops see value but no gradient
print(f"\nStop-gradient tensor requires_grad: {stop_gradient.requires_grad}")
