"""gradient accumulation with zero_grad() in front of every micro-batch: only the last of four counts."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, accumulate=4):
        self.model = model
        self.accumulate = accumulate
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def train_epoch(self, loader):
        total = 0.0
        for i, (x, y) in enumerate(loader):
            self.optimizer.zero_grad()  # EXPECT: gradient-discarded
            loss = self.criterion(self.model(x), y) / self.accumulate
            loss.backward()  # ALSO: gradient-discarded
            total += loss.item()
            if (i + 1) % self.accumulate == 0:
                self.optimizer.step()
        return total * self.accumulate / len(loader)


def main():
    torch.manual_seed(14)
    images = torch.randn(128, 2, 6, 6)
    labels = (images[:, 0].mean((1, 2)) > images[:, 1].mean((1, 2))).long()
    loader = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True)
    cnn = nn.Sequential(nn.Conv2d(2, 8, 3), nn.LeakyReLU(0.1), nn.Flatten(), nn.Linear(8 * 16, 2))
    trainer = Trainer(cnn)
    for epoch in range(5):
        print("epoch", epoch, "loss", round(trainer.train_epoch(loader), 4))


if __name__ == "__main__":
    main()
