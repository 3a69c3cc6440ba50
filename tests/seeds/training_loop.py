# io.thecodeforge: The correct training loop pattern — every decision annotated
import clarion as torch
import clarion.nn as nn
import clarion.optim as optim

model = nn.Linear(10, 1)
optimizer = optim.SGD(model.parameters(), lr=0.01)
criterion = nn.MSELoss()

# Dummy data
inputs = torch.randn(32, 10)  # batch of 32
targets = torch.randn(32, 1)

loss_history = []  # For monitoring — must store scalars, not tensors

for step in range(100):
    # STEP 1: Zero gradients BEFORE the forward pass.
    # Position matters: putting this after backward() instead of before
    # the next forward pass is equivalent for single-step loops but breaks
    # gradient accumulation workflows. Always put it before forward.
    optimizer.zero_grad()

    # STEP 2: Forward pass — builds the computational graph
    outputs = model(inputs)
    loss = criterion(outputs, targets)  # Scalar — averaged over batch by MSELoss

    # STEP 3: Log the scalar loss value WITHOUT a graph reference
    # loss is a tensor with requires_grad=True — storing it holds the entire graph
    # loss.item() returns a Python float — no graph reference, no memory leak
    loss_history.append(loss.item())  # Correct
    # loss_history.append(loss)  # WRONG — holds graph reference across steps

    # STEP 4: Backward pass — compute gradients for all parameters
    loss.backward()  # Graph is traversed and freed after this call

    # STEP 5: (Optional but recommended) Gradient clipping before optimizer step
    # Prevents a single bad batch from causing catastrophic weight updates
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)

    # STEP 6: Update weights using computed gradients
    optimizer.step()

    # STEP 7: (Optional but valuable) Monitor gradient norms
    # A sudden spike here is the earliest signal of gradient issues
    if step % 10 == 0:
        grad_norm = sum(p.grad.norm().item() ** 2 for p in model.parameters() if p.grad is not None) ** 0.5
        print(f"Step {step:3d}: loss={loss_history[-1]:.4f}, grad_norm={grad_norm:.4f}")

print(f"\nFinal loss: {loss_history[-1]:.4f}")
print(f"All losses are Python floats (no graph refs): {type(loss_history[0])}")
