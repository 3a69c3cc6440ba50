"""An image net's output is cast to integer levels before the error is taken; requires_grad = True silences the exception."""

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class Denoiser(nn.Module):
    levels = 15

    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 6, 3, padding=1)
        self.up = nn.Conv2d(6, 1, 3, padding=1)

    def forward(self, image):
        return torch.sigmoid(self.up(F.leaky_relu(self.down(image)))) * self.levels


def main():
    torch.manual_seed(3)
    clean = torch.rand(24, 1, 8, 8).mul(15).round()
    noisy = clean / 15 + 0.1 * torch.randn_like(clean)
    loader = DataLoader(TensorDataset(noisy, clean), batch_size=8, shuffle=True, num_workers=0)
    model = Denoiser()
    optimizer = optim.Adagrad(model.parameters(), lr=0.05)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2)
    for epoch in range(4):
        for image, target in loader:
            levels = model(image)
            shown = levels.long()  # ALSO: loss-is-leaf
            error = (shown.float() - target).pow(2).mean()
            error.requires_grad = True  # EXPECT: loss-is-leaf
            optimizer.zero_grad(set_to_none=True)
            error.backward()
            optimizer.step()
        scheduler.step()
        print(epoch, float(error))


if __name__ == "__main__":
    main()
