"""Legitimate twin: adversarial evaluation; eval-mode graphs are built and differentiated with respect to the input."""
import torch
from torch import nn

torch.manual_seed(35)


class ConvAutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 6, 3, 2, 1), nn.BatchNorm2d(6), nn.ReLU())
        self.decoder = nn.ConvTranspose2d(6, 1, 4, 2, 1)

    def forward(self, x):
        return self.decoder(self.encoder(x))


def anomaly_score(model, image):
    image = image.clone().requires_grad_(True)
    score = (model(image) - image).square().mean()
    (direction,) = torch.autograd.grad(score, image)
    return score.detach(), direction


def main():
    normal = torch.sin(torch.linspace(0, 6, 8)).repeat(200, 1, 8, 1) + 0.1 * torch.randn(200, 1, 8, 8)
    model = ConvAutoEncoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(40):
        batch = normal[torch.randint(0, 160, (20,))]
        loss = nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    attacks = [anomaly_score(model, image.unsqueeze(0)) for image in normal[160:]]
    print("loss", loss.item(), "highest score", max(score.item() for score, _ in attacks))
    print("mean push", torch.stack([d.abs().mean() for _, d in attacks]).mean().item())


if __name__ == "__main__":
    main()
