"""A variational autoencoder compresses digits to eight numbers, and then invents digits."""

from digits import draw, load_digits

import clarion as torch
from clarion import nn, optim
from clarion.nn import functional as F

LATENT = 8


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, 128), nn.Tanh(), nn.Linear(128, 64))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        latent = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        return self.decoder(latent), mean, log_variance


def run(steps: int = 2000) -> list[float]:
    torch.manual_seed(0)
    images = torch.from_numpy(load_digits()[0])
    model = VAE()
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for step in range(1, steps + 1):
        batch = images[torch.randint(len(images), (100,))]
        scores, mean, log_variance = model(batch)
        reconstruction = F.binary_cross_entropy_with_logits(scores, batch, reduction="sum") / len(batch)
        divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=1).mean()
        loss = reconstruction + divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 400 == 0:
            print(
                f"step {step:4}  loss {loss.item():.3f}"
                f"  reconstruction {reconstruction.item():.3f}  divergence {divergence.item():.3f}"
            )
    if steps >= 400:
        with torch.no_grad():
            invented = model.decoder(torch.randn(4, LATENT)).sigmoid()
        rows = zip(*(draw(image.numpy()).split("\n") for image in invented), strict=True)
        print("four digits that nobody wrote:", *("   ".join(row).rstrip() for row in rows), sep="\n")
    return losses


if __name__ == "__main__":
    run()
