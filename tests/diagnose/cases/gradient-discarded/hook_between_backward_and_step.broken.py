"""the loop calls a hook between backward and step, and the module's hook clears the gradients to zeros there (lightning#4083)."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(112)


class LitRegressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 20), nn.Tanh(), nn.Linear(20, 1))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)

    def training_step(self, batch):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def on_before_step(self, optimizer):
        optimizer.zero_grad(set_to_none=False)  # EXPECT: gradient-discarded


class Loop:
    def __init__(self, module):
        self.module = module
        self.optimizer = module.configure_optimizers()

    def run(self, loader, epochs):
        for _ in range(epochs):
            for batch in loader:
                loss = self.module.training_step(batch)
                loss.backward()  # ALSO: gradient-discarded
                self.module.on_before_step(self.optimizer)
                self.optimizer.step()
        return loss.item()


x = torch.randn(80, 5)
data = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=10, shuffle=True, num_workers=0)
print("last loss", round(Loop(LitRegressor()).run(data, epochs=4), 4))
