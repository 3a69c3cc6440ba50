"""L1Loss of depth maps (N, 1, H, W) against (N, H, W): predictions meet the maps of all other images."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(82)


class Scenes(Dataset):
    def __init__(self, count):
        self.images = torch.rand(count, 3, 8, 8)
        self.depths = self.images.mean(1) * 2 + 0.5

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return {"image": self.images[index], "depth": self.depths[index]}


class DepthNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.LeakyReLU(0.1), nn.Conv2d(8, 1, 3, padding=1))

    def forward(self, image):
        return nn.functional.softplus(self.body(image))


def training_loop(model, loader, optimizer, epochs):
    l1 = nn.L1Loss()
    for _ in range(epochs):
        for sample in loader:
            optimizer.zero_grad()
            predicted = model(sample["image"])
            loss = l1(predicted, sample["depth"])  # EXPECT: loss-broadcast
            loss.backward()
            optimizer.step()
    return loss.item()


model = DepthNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
loader = DataLoader(Scenes(48), batch_size=12, shuffle=True)
print("loss", round(training_loop(model, loader, optimizer, epochs=4), 4))
