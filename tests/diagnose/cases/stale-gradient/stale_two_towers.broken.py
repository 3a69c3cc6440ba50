"""Two towers with an optimizer each; only one of them is cleared."""
import torch
import torch.nn as nn

torch.manual_seed(0)
user, item = nn.Embedding(30, 8), nn.Embedding(40, 8)
opt_u = torch.optim.SGD(user.parameters(), 0.1)
opt_i = torch.optim.SGD(item.parameters(), 0.1)
for step in range(40):
    u, i = torch.randint(30, (64,)), torch.randint(40, (64,))
    score = (user(u) * item(i)).sum(-1)
    loss = nn.functional.binary_cross_entropy_with_logits(score, ((u + i) % 2).float())
    opt_u.zero_grad()
    loss.backward()
    opt_u.step()
    opt_i.step()  # EXPECT: stale-gradient
print(round(loss.item(), 3))
