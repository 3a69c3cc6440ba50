"""A p-norm by hand: 0 ** (1/p) where two embeddings coincide."""
import torch

torch.manual_seed(14)
emb = torch.nn.Embedding(20, 4)
opt = torch.optim.SGD(emb.parameters(), lr=0.1)
for step in range(30):
    i, j = torch.randint(0, 20, (24,)), torch.randint(0, 20, (24,))
    if step >= 10:
        j[0] = i[0]
    diff = (emb(i) - emb(j)).abs()
    dist = (diff ** 3).sum(1) ** (1 / 3)  # EXPECT: non-finite-backward
    loss = (dist - 1).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(step)
