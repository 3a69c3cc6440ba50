"""A focal loss written for logits; the sigmoid is only its weight."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(60)


class FocalLoss(nn.Module):
    def __init__(self, gamma: float = 2.0, alpha: float = 0.25) -> None:
        super().__init__()
        self.gamma, self.alpha = gamma, alpha

    def forward(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        bce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
        probability = torch.exp(-bce)
        weight = self.alpha * targets + (1 - self.alpha) * (1 - targets)
        return (weight * (1 - probability) ** self.gamma * bce).mean()


class Detector(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU())
        self.objectness = nn.Conv2d(8, 1, 1)

    def forward(self, images: torch.Tensor) -> dict[str, torch.Tensor]:
        scores = self.objectness(self.backbone(images))
        return {"scores": scores, "probabilities": torch.sigmoid(scores)}


images = torch.rand(64, 1, 8, 8)
targets = (images > 0.9).float()
detector, criterion = Detector(), FocalLoss()
optimizer = torch.optim.AdamW(detector.parameters(), lr=1e-2)
for epoch in range(5):
    for rows in torch.randperm(64).split(16):
        optimizer.zero_grad()
        loss = criterion(detector(images[rows])["scores"], targets[rows])
        loss.backward()
        optimizer.step()
print("loss", round(loss.item(), 5))
