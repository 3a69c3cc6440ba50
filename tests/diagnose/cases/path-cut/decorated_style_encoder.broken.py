"""A method of the model is decorated with no_grad from the days when it was pretrained: the style encoder never learns."""

import torch
from torch import nn

torch.manual_seed(6)


class Stylist(nn.Module):
    def __init__(self):
        super().__init__()
        self.content = nn.Linear(6, 16)
        self.style = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 16))
        self.mix = nn.Linear(32, 6)

    @torch.no_grad()
    def style_of(self, reference):
        return self.style(reference)  # EXPECT: path-cut

    def forward(self, item, reference):
        return self.mix(torch.cat([torch.tanh(self.content(item)), self.style_of(reference)], dim=1))


model = Stylist()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
best, patience = float("inf"), 5
for epoch in range(30):
    item, reference = torch.randn(32, 6), torch.randn(32, 6)
    target = item * 0.5 + reference.roll(1, 0) * 0.1 + reference * 0.4
    loss = (model(item, reference) - target).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    if loss.item() < best:
        best, patience = loss.item(), 5
    else:
        patience -= 1
        if patience == 0:
            break
print("best", best)
