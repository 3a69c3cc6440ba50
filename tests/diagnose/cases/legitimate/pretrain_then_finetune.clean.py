"""Must stay silent: an autoencoder is pre-trained; afterwards its decoder is left alone and a classifier learns."""
import torch
from torch import nn

torch.manual_seed(171)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 16), nn.Tanh())
        self.decoder = nn.Linear(16, 10)
        self.classifier = nn.Linear(16, 3)

    def reconstruct(self, x):
        return self.decoder(self.encoder(x))

    def forward(self, x):
        return self.classifier(self.encoder(x))


model = Model()
basis = torch.randn(4, 10)
pretrain = torch.optim.Adam([*model.encoder.parameters(), *model.decoder.parameters()], lr=5e-3)
for step in range(40):
    x = torch.randn(32, 4) @ basis
    loss = nn.functional.mse_loss(model.reconstruct(x), x)
    pretrain.zero_grad()
    loss.backward()
    pretrain.step()
print("reconstruction", round(loss.item(), 4))
finetune = torch.optim.SGD([
    {"params": model.encoder.parameters(), "lr": 0.01}, {"params": model.classifier.parameters()}], lr=0.1)
for step in range(40):
    code = torch.randn(32, 4)
    loss = nn.functional.cross_entropy(model(code @ basis), code[:, :3].argmax(1))
    finetune.zero_grad()
    loss.backward()
    finetune.step()
print("classification", round(loss.item(), 4))
