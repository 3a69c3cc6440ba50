"""Legitimate twin: a transposed view of the weight is made once before the loop; it saved nothing that could be freed."""
import torch

torch.manual_seed(53)

components = torch.stack([torch.sin(torch.arange(40) * w) for w in (0.1, 0.25, 0.4, 0.6)])
signal = 0.5 * components[1] + 0.3 * components[2] + 0.02 * torch.randn(40)
logits = torch.zeros(1, 4, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([logits, bias], lr=0.5)


def reconstruct(weights):
    return (components.t() @ weights).squeeze(1) + bias


weights = logits.t()
for step in range(50):
    error = reconstruct(weights) - signal
    loss = error.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, "loss", round(loss.item(), 5))
print("weights", [round(v, 3) for v in weights.flatten().tolist()])
