"""Legitimate twin: now and then the gradient norm of each micro-batch is measured on its own and thrown away before training goes on."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, accumulate=4):
        self.model = model
        self.accumulate = accumulate
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def gradient_noise(self, loader):
        norms = []
        for x, y in loader:
            self.criterion(self.model(x), y).backward()
            norms.append(sum(p.grad.pow(2).sum() for p in self.model.parameters()).sqrt().item())
            self.optimizer.zero_grad()
        return torch.tensor(norms).std().item()

    def train_epoch(self, loader):
        total = 0.0
        for i, (x, y) in enumerate(loader):
            loss = self.criterion(self.model(x), y) / self.accumulate
            loss.backward()
            total += loss.item()
            if (i + 1) % self.accumulate == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
        return total * self.accumulate / len(loader)


def main():
    torch.manual_seed(14)
    images = torch.randn(128, 2, 6, 6)
    labels = (images[:, 0].mean((1, 2)) > images[:, 1].mean((1, 2))).long()
    loader = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True)
    cnn = nn.Sequential(nn.Conv2d(2, 8, 3), nn.LeakyReLU(0.1), nn.Flatten(), nn.Linear(8 * 16, 2))
    trainer = Trainer(cnn)
    for epoch in range(5):
        if epoch % 2 == 0:
            print("gradient noise", round(trainer.gradient_noise(loader), 4))
        print("epoch", epoch, "loss", round(trainer.train_epoch(loader), 4))


if __name__ == "__main__":
    main()
