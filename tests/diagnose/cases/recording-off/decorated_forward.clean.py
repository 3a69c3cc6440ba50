"""predict carries @torch.inference_mode(); forward does not."""
import torch
import torch.nn.functional as F
from torch import nn


class Detector(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, 8, 5, stride=2), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(8 * 14, 2)

    def forward(self, wave):
        return self.head(self.features(wave))

    @torch.inference_mode()
    def predict(self, wave):
        return self.head(self.features(wave)).argmax(1)


def main():
    torch.manual_seed(181)
    wave = torch.randn(32, 1, 31)
    label = (wave.mean((1, 2)) > 0).long()
    model = Detector()
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(3):
        for rows in torch.arange(32).split(8):
            loss = F.cross_entropy(model(wave[rows]), label[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("hits", (model.predict(wave) == label).sum().item())
    print("done", round(loss.item(), 3))


if __name__ == "__main__":
    main()
