"""Both phases of the loop begin with model.train(); only gradients are switched (pytorch_stacked_hourglass#44)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(44)


class KeypointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.dropout = nn.Dropout(0.4)
        self.regressor = nn.Linear(6 * 25, 2)

    def forward(self, images):
        return self.regressor(self.dropout(self.features(images).flatten(1)))


position = torch.randint(0, 10, (120, 2))
images = torch.randn(120, 1, 10, 10) * 0.1
images[torch.arange(120), 0, position[:, 0], position[:, 1]] += 3.0
train_set, valid_set = random_split(TensorDataset(images, position / 10.0), [96, 24])
loaders = {"train": DataLoader(train_set, batch_size=16, shuffle=True), "valid": DataLoader(valid_set, batch_size=24)}
model = KeypointNet()
criterion = nn.MSELoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)

for epoch in range(3):
    for phase, loader in loaders.items():
        model.train()
        running = 0.0
        for batch, target in loader:
            with torch.set_grad_enabled(phase == "train"):
                output = model(batch)  # EXPECT: inference-in-train-mode
                loss = criterion(output, target)
            if phase == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            running += loss.item() * len(batch)
        print(epoch, phase, round(running / len(loader.dataset), 4))
