"""A soft alignment by dynamic programming in log space, with -inf as the beginning."""
import torch
import torch.nn as nn

torch.manual_seed(19)
enc = nn.GRU(4, 12, batch_first=True)
head = nn.Linear(12, 5)
opt = torch.optim.Adam([*enc.parameters(), *head.parameters()], 5e-3)


def forward_algorithm(logp, labels):
    b, t, _ = logp.shape
    s = labels.shape[1]
    alpha = torch.full((b, s), -1e9)
    alpha[:, 0] = 0
    emit = logp.gather(2, labels[:, None].expand(b, t, s))
    for i in range(t):
        stay = alpha
        move = torch.cat([torch.full((b, 1), -1e9), alpha[:, :-1]], 1)
        alpha = torch.logaddexp(stay, move) + emit[:, i]
    return -alpha[:, -1].mean()


for step in range(30):
    x = torch.randn(8, 7, 4)
    labels = torch.randint(5, (8, 3))
    h, _ = enc(x)
    loss = forward_algorithm(head(h).log_softmax(-1), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.isfinite().item())
