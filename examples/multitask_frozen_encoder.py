"""An encoder learns digits without labels; then it is frozen, and two heads learn two tasks on top of it."""

from digits import load_digits

import clarion as torch
from clarion import nn, optim
from clarion.nn import functional as F


class TwoHeads(nn.Module):
    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder.requires_grad_(False)
        self.which = nn.Linear(32, 10)
        self.odd = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.encoder(x)
        return self.which(features), self.odd(features).squeeze(1)


def pretrain(encoder: nn.Module, images: torch.Tensor, steps: int) -> list[float]:
    """As the first half of an autoencoder."""
    decoder = nn.Linear(32, 64)
    optimizer = optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=3e-3)
    losses = []
    for _ in range(steps):
        batch = images[torch.randint(len(images), (64,))]
        loss = F.mse_loss(decoder(encoder(batch)), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"autoencoder: error {losses[0]:.4f} -> {losses[-1]:.4f}")
    return losses


def run(steps: int = 600) -> list[float]:
    """Half of the steps for the encoder, half for the heads."""
    torch.manual_seed(0)
    images, labels, test_images, test_labels = map(torch.from_numpy, load_digits())
    encoder = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
    losses = pretrain(encoder, images, steps // 2)

    model = TwoHeads(encoder)
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    optimizer = optim.Adam((p for p in model.parameters() if p.requires_grad), lr=1e-2)
    for step in range(1, steps - steps // 2 + 1):
        rows = torch.randint(len(images), (64,))
        which, odd = model(images[rows])
        which_loss = F.cross_entropy(which, labels[rows])
        odd_loss = F.binary_cross_entropy_with_logits(odd, (labels[rows] % 2).float())
        optimizer.zero_grad()
        (which_loss + odd_loss).backward()
        optimizer.step()
        losses.append((which_loss + odd_loss).item())
        if step % 100 == 0:
            print(f"step {step:4}  loss: which digit {which_loss.item():.4f}, odd or even {odd_loss.item():.4f}")

    with torch.no_grad():
        which, odd = model(test_images)
    which_right = (which.argmax(dim=1) == test_labels).float().mean().item()
    odd_right = ((odd > 0) == (test_labels % 2 == 1)).float().mean().item()
    same = all(torch.equal(before[name], value) for name, value in encoder.state_dict().items())
    print(f"test accuracy: which digit {which_right:.1%}, odd or even {odd_right:.1%}")
    print(f"the frozen encoder is {'as it was' if same else 'CHANGED'}")
    return losses


if __name__ == "__main__":
    run()
