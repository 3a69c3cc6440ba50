"""The parameters are a generator that an earlier count has used up."""
import torch
import torch.nn as nn

torch.manual_seed(5)
net = nn.LSTM(4, 12, batch_first=True)
head = nn.Linear(12, 1)
everything = [*net.parameters(), *head.parameters()]
trainable = [p for p in everything if p.requires_grad]
print(sum(p.numel() for p in trainable), "parameters")
opt = torch.optim.SGD(everything, 0.05)
for step in range(30):
    x = torch.randn(8, 10, 4)
    out, _ = net(x)
    loss = (head(out[:, -1]) - x.sum((1, 2))[:, None]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(trainable, 1.0)
    opt.step()
print(round(loss.item(), 2))
