# The one-liners for finding out why training goes wrong, with a model and data for them.
import clarion as torch
import clarion.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
inputs = (torch.randn(2, 3, dtype=torch.float64, requires_grad=True),)
model[2].bias.requires_grad_(False)
loss = model(*inputs).pow(2).mean()
loss.backward()

# Loss becomes NaN during training
torch.autograd.set_detect_anomaly(True)
print([(name, p.grad.norm().item()) for name, p in model.named_parameters() if p.grad is not None])

# GPU memory keeps growing each epoch
if torch.cuda.is_available():
    torch.cuda.memory_summary(device=None, abbreviated=False)
print(loss.item())  # NOT print(loss) — .item() returns a Python float with no graph reference

# Gradients are all zeros — model not learning
for n, p in model.named_parameters():
    print(n, p.requires_grad, p.grad is not None, p.grad.norm().item() if p.grad is not None else "NO GRAD")
torch.autograd.gradcheck(model, inputs, eps=1e-6, atol=1e-4)  # numerically verify gradient computation

# A NaN that is born in backward is named
x = torch.tensor([0.0], requires_grad=True)
try:
    (x.sqrt() * 0).sum().backward()
except RuntimeError as error:
    print(str(error).splitlines()[0])
torch.autograd.set_detect_anomaly(False)
