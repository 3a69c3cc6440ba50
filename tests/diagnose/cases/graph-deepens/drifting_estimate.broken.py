"""an online filter carries its corrected position on without cutting the graph: step t differentiates all t predictions."""
import torch

torch.manual_seed(20)
observed = torch.cumsum(torch.tensor([0.3, -0.2]) + 0.05 * torch.randn(60, 2), dim=0)


class Tracker:
    def __init__(self):
        self.drift = torch.zeros(2, requires_grad=True)
        self.position = torch.zeros(2)

    def predict(self):
        return self.position + self.drift

    def correct(self, predicted, observation):
        self.position = torch.lerp(predicted, observation, 0.3)  # EXPECT: graph-deepens


tracker = Tracker()
optimizer = torch.optim.SGD([tracker.drift], lr=0.02)
for step, observation in enumerate(observed):
    predicted = tracker.predict()
    loss = (predicted - observation).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    tracker.correct(predicted, observation)
    if step % 15 == 14:
        print("step", step, "loss", round(loss.item(), 4), "drift", [round(v, 3) for v in tracker.drift.tolist()])
