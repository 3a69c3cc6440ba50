"""Only the evaluation puts softmax in front of the cross entropy."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.Adam(net.parameters(), 5e-3)


@torch.no_grad()
def evaluate(x, y):
    net.eval()
    probs = torch.softmax(net(x), dim=1)
    loss = F.cross_entropy(probs, y)  # EXPECT: softmax-twice
    net.train()
    return loss.item(), (probs.argmax(1) == y).float().mean().item()


for epoch in range(4):
    for _ in range(10):
        x = torch.randn(32, 6)
        loss = F.cross_entropy(net(x), x[:, :3].argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    x = torch.randn(64, 6)
    val, acc = evaluate(x, x[:, :3].argmax(1))
    print(epoch, val > 0)
