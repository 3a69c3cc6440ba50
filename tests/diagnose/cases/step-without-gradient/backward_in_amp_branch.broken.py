"""backward() is called only where mixed precision is on; elsewhere the optimizer steps on nothing."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(122)


class Parity(Dataset):
    def __init__(self, n):
        self.bits = torch.randint(0, 2, (n, 6))

    def __len__(self):
        return len(self.bits)

    def __getitem__(self, i):
        return self.bits[i].float(), (self.bits[i].sum() % 2).float()


class Engine:
    def __init__(self, model, use_amp=False):
        self.model = model
        self.use_amp = use_amp
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler("cpu", enabled=use_amp)

    def train_one_epoch(self, loader):
        total = 0.0
        for bits, parity in loader:
            self.optimizer.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(self.model(bits).squeeze(1), parity)
            total += loss.item()
            if self.use_amp:
                self.scaler.scale(loss).backward()
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                self.optimizer.step()  # EXPECT: step-without-gradient
        return total / len(loader)


engine = Engine(nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)))
loader = DataLoader(Parity(96), batch_size=16, shuffle=True)
epoch, best = 0, float("inf")
while epoch < 4:
    best = min(best, engine.train_one_epoch(loader))
    epoch += 1
print("best", round(best, 4))
