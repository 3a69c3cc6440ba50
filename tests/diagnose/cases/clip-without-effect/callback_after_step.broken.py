"""a trainer's after_step() callback clips: the gradients it clips were used and are about to be cleared."""
import torch
from torch import nn


class ClipGradients:
    def __init__(self, limit):
        self.limit = limit

    def after_step(self, model):
        nn.utils.clip_grad_norm_(model.parameters(), self.limit, norm_type=2.0)  # EXPECT: clip-without-effect


class Loop:
    def __init__(self, model, optimizer, callbacks):
        self.model, self.optimizer, self.callbacks = model, optimizer, callbacks

    def fit(self, x, y, epochs):
        for epoch in range(epochs):
            for idx in torch.randperm(len(x)).split(16):
                self.optimizer.zero_grad()
                loss = nn.functional.l1_loss(self.model(x[idx]), y[idx])
                loss.backward()
                self.optimizer.step()  # ALSO: clip-without-effect
                for callback in self.callbacks:
                    callback.after_step(self.model)
            print("epoch", epoch, "l1", round(loss.item(), 4))


torch.manual_seed(60)
x = torch.randn(128, 2, 16)
y = x.flatten(1).std(1, keepdim=True)
model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(4 * 14, 1))
callbacks = [ClipGradients(0.2)]
Loop(model, torch.optim.NAdam(model.parameters(), lr=5e-3), callbacks).fit(x, y, epochs=6)
