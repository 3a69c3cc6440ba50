"""Legitimate twin: an empty selection counts as zero."""
import torch
import torch.nn.functional as F

torch.manual_seed(28)

weight = (0.1 * torch.randn(3, 5)).requires_grad_()
bias = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([weight, bias], lr=0.02)


def balanced_loss(logits, label, rare):
    each = F.cross_entropy(logits, label, reduction="none")
    parts = [each[~rare].sum() / max(int((~rare).sum()), 1), each[rare].sum() / max(int(rare.sum()), 1)]
    return 0.5 * (parts[0] + parts[1])


for step in range(520):
    x = torch.randn(24, 5)
    label = x[:, :3].argmax(1)
    rare = label == 2
    if step == 430:
        label[rare] = 0
        rare = torch.zeros_like(rare)
    optimizer.zero_grad()
    loss = balanced_loss(F.linear(x, weight, bias), label, rare)
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(step, loss.item())
