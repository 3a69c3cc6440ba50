"""A callback stores the logits of every batch for an accuracy at the end; the graphs come along (pytorch FAQ)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)


class Callback:
    def on_batch_end(self, outputs, targets):
        pass

    def on_train_end(self):
        pass


class TrainAccuracy(Callback):
    def __init__(self):
        self.outputs, self.targets = [], []

    def on_batch_end(self, outputs, targets):
        self.outputs.append(outputs)
        self.targets.append(targets)

    def on_train_end(self):
        hits = torch.cat(self.outputs).argmax(1) == torch.cat(self.targets)
        print("accuracy over the whole training", round(hits.float().mean().item(), 3))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, padding=1)
        self.fc = nn.Linear(6 * 16, 3)

    def forward(self, images):
        features = nn.functional.max_pool2d(torch.relu(self.conv(images)), 2)
        return self.fc(features.flatten(1))  # EXPECT: graphs-accumulate


def fit(model, loader, callbacks, epochs=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    criterion = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for images, targets in loader:
            optimizer.zero_grad()
            outputs = model(images)
            loss = criterion(outputs, targets)
            loss.backward()
            optimizer.step()
            for callback in callbacks:
                callback.on_batch_end(outputs, targets)
    for callback in callbacks:
        callback.on_train_end()


images = torch.randn(128, 1, 8, 8)
targets = images.mean((1, 2, 3)).mul(20).round().clamp(-1, 1).long() + 1
fit(ConvNet(), DataLoader(TensorDataset(images, targets), batch_size=16), [TrainAccuracy()])
