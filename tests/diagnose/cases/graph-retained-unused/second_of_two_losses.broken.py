"""both backward() calls of a VAE step retain: the first one has to, the second one keeps the graph for nobody."""
import torch
from torch import nn

torch.manual_seed(22)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(12, 6)
        self.decode = nn.Sequential(nn.Linear(3, 16), nn.ELU(), nn.Linear(16, 12))

    def forward(self, x):
        mu, logvar = self.encode(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decode(z), mu, logvar


class Trainer:
    def __init__(self, model, beta=0.05):
        self.model, self.beta = model, beta
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

    def training_step(self, batch):
        recon, mu, logvar = self.model(batch)
        recon_loss = nn.functional.mse_loss(recon, batch)
        kl = -0.5 * self.beta * (1 + logvar - mu.pow(2) - logvar.exp()).mean()
        self.optimizer.zero_grad()
        recon_loss.backward(retain_graph=True)
        kl.backward(retain_graph=True)  # EXPECT: graph-retained-unused
        self.optimizer.step()
        return recon_loss.item(), kl.item()


data = torch.randn(256, 3) @ torch.randn(3, 12)
trainer = Trainer(VAE())
for step in range(40):
    recon, kl = trainer.training_step(data[torch.randint(0, 256, (32,))])
    if step % 10 == 9:
        print("step", step, "reconstruction", round(recon, 4), "kl", round(kl, 5))
