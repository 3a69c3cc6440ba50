"""the helper that makes adversarial examples clears the model, and with it the gradients of the clean batch."""
import torch
from torch import nn
import torch.nn.functional as F


def fgsm(model, x, y, eps=0.1):
    model.zero_grad()  # EXPECT: gradient-discarded
    x_adv = x.clone().detach().requires_grad_(True)
    slope, = torch.autograd.grad(F.cross_entropy(model(x_adv), y), x_adv)
    return (x_adv + eps * slope.sign()).detach()


def train_step(model, opt, x, y):
    opt.zero_grad()
    clean_loss = F.cross_entropy(model(x), y)
    clean_loss.backward()  # ALSO: gradient-discarded
    x_adv = fgsm(model, x, y)
    adv_loss = F.cross_entropy(model(x_adv), y)
    adv_loss.backward()
    opt.step()
    return clean_loss.item(), adv_loss.item()


if __name__ == "__main__":
    torch.manual_seed(9)
    net = nn.Sequential(
        nn.Conv1d(2, 6, 3, padding=1), nn.BatchNorm1d(6), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 10, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.05, weight_decay=1e-4)
    x = torch.randn(150, 2, 10)
    y = x[:, 0, :3].argmax(1)
    for step in range(40):
        idx = torch.randint(0, 150, (25,))
        clean, adversarial = train_step(net, opt, x[idx], y[idx])
    print(f"clean {clean:.4f} adversarial {adversarial:.4f}")
