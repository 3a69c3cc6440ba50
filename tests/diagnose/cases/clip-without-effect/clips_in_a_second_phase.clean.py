"""It clips before the step."""
import torch
from torch import nn

torch.manual_seed(19)


class Loop:
    def __init__(self):
        self.net = nn.LSTM(4, 12, batch_first=True)
        self.head = nn.Linear(12, 1)
        self.params = [*self.net.parameters(), *self.head.parameters()]
        self.opt = torch.optim.RMSprop(self.params, lr=1e-3)

    def loss(self):
        x = torch.randn(8, 6, 4)
        out, _ = self.net(x)
        return (self.head(out[:, -1]).squeeze(1) - x.sum((1, 2)).tanh()).square().mean()

    def update(self, clip=None):
        self.opt.zero_grad()
        loss = self.loss()
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(self.params, clip)
        self.opt.step()
        return loss.item()


loop = Loop()
for _ in range(300):
    loop.update()
for _ in range(150):
    last = loop.update(clip=0.5)
print(last)
