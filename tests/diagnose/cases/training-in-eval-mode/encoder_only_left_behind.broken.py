"""extract() puts just the encoder of an autoencoder into eval mode; train() is later called on the decoder alone."""
import torch
from torch import nn

torch.manual_seed(19)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 12))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Trainer:
    def __init__(self, model, lr=5e-3):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def extract(self, x):
        self.model.encoder.eval()  # EXPECT: training-in-eval-mode
        with torch.no_grad():
            return self.model.encoder(x)

    def epoch(self, x):
        self.model.decoder.train()
        for batch in x[torch.randperm(len(x))].split(16):
            loss = nn.functional.mse_loss(self.model(batch), batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()  # ALSO: training-in-eval-mode
        return loss.item()


data = torch.randn(160, 4) @ torch.randn(4, 12) + 2
trainer = Trainer(AutoEncoder())
for epoch in range(6):
    loss = trainer.epoch(data)
    codes = trainer.extract(data)
    print("epoch", epoch, "loss", round(loss, 4), "code spread", round(codes.std().item(), 4))
