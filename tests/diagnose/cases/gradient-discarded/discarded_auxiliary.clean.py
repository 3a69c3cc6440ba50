"""The auxiliary loss is propagated before the gradients are cleared for the main one."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
trunk, main, aux = nn.Linear(5, 16), nn.Linear(16, 2), nn.Linear(16, 5)
opt = torch.optim.Adam([*trunk.parameters(), *main.parameters(), *aux.parameters()], 3e-3)
for step in range(40):
    x = torch.randn(32, 5)
    opt.zero_grad()
    h = trunk(x).relu()
    rec = F.mse_loss(aux(h.detach() * 1.0 + (h - h.detach())), x)
    rec.backward(retain_graph=True)
    loss = F.cross_entropy(main(h), (x[:, 0] > 0).long())
    loss.backward()
    opt.step()
print(round(loss.item(), 3))
