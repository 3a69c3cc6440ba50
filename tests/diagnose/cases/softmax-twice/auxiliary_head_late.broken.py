"""An auxiliary head gives probabilities, and joins the loss with its logits' loss at step 350."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(106)


class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.main, self.aux = nn.Linear(6, 16), nn.Linear(16, 3), nn.Linear(16, 4)

    def forward(self, x):
        h = torch.tanh(self.body(x))
        return self.main(h), torch.sigmoid(self.aux(h))


net = Multi()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
for step in range(520):
    x = torch.randn(16, 6)
    main, aux = net(x)
    loss = F.cross_entropy(main, x[:, :3].argmax(1))
    if step > 350:
        loss = loss + 0.3 * F.binary_cross_entropy_with_logits(aux, (x[:, :4] > 0).float())  # EXPECT: softmax-twice
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
