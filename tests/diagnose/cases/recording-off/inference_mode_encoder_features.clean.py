"""Legitimate twin: inference_mode is kept for encoding the finished autoencoder's codes after training."""
import torch
from torch import nn

torch.manual_seed(19)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 12), nn.ELU(), nn.Linear(12, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 12), nn.ELU(), nn.Linear(12, 16))

    def reconstruct(self, x):
        return self.decoder(self.encoder(x))

    @torch.inference_mode()
    def codes(self, x):
        return self.encoder(x)


data = torch.randn(200, 4) @ torch.randn(4, 16)
model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20)
for step in range(40):
    batch = data[torch.randint(0, 200, (40,))]
    recon = model.reconstruct(batch)
    loss = ((recon - batch) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 10 == 9:
        print(step, "reconstruction", round(loss.item(), 4))
print("mean code", model.codes(data).mean(0).tolist())
