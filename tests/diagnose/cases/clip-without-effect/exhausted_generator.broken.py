"""`params = model.parameters()` is a generator: the optimizer consumes it and the clip sees an empty one."""
import torch
import torch.nn as nn

torch.manual_seed(19)


class Denoiser(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.encode = nn.Linear(dim, 10)
        self.decode = nn.Linear(10, dim)

    def forward(self, noisy):
        return self.decode(torch.sigmoid(self.encode(noisy)))


class Experiment:
    def __init__(self):
        self.model = Denoiser()
        self.params = self.model.parameters()
        self.optimizer = torch.optim.SGD(self.params, lr=0.2, momentum=0.9)
        self.signal = torch.cumsum(torch.randn(80, 24), 1)

    def step(self, rows):
        signal = self.signal[rows]
        loss = nn.functional.mse_loss(self.model(signal + 0.1 * torch.randn_like(signal)), signal)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.params, 1.0)  # EXPECT: clip-without-effect
        self.optimizer.step()
        return loss.item()


experiment = Experiment()
for it in range(40):
    value = experiment.step(torch.randint(0, 80, (20,)))
print("loss", value)
