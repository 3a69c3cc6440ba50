"""backward(inputs=[x]), left over from the attack, deposits nothing in the weights that step() should move."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(12)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(12, 3, batch_first=True)
        self.out = nn.Linear(12, 4)

    def forward(self, x):
        mixed, _ = self.attention(x, x, x, need_weights=False)
        return self.out((x + mixed).mean(1))


def perturb(x, size=0.05):
    return x + size * torch.randn_like(x)


scorer = Scorer()
optimizer = torch.optim.SGD(scorer.parameters(), lr=0.1)
sequences = torch.randn(120, 5, 12)
classes = sequences.mean(1)[:, :4].argmax(1)
for step in range(50):
    rows = torch.randint(0, 120, (24,))
    x = perturb(sequences[rows]).requires_grad_()
    loss = F.cross_entropy(scorer(x), classes[rows])
    optimizer.zero_grad()
    loss.backward(inputs=[x])
    optimizer.step()  # EXPECT: step-without-gradient
    if step % 10 == 0:
        print(step, "loss", round(loss.item(), 4))
