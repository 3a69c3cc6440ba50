"""A scikit-learn style wrapper: predict() opens inference_mode and eval mode."""
import numpy as np
import torch
from torch import nn


class NeuralRegressor:
    def __init__(self, hidden: int = 32, epochs: int = 6, seed: int = 0) -> None:
        self.hidden, self.epochs, self.seed = hidden, epochs, seed

    def fit(self, features: np.ndarray, targets: np.ndarray) -> "NeuralRegressor":
        torch.manual_seed(self.seed)
        self.net = nn.Sequential(
            nn.Linear(features.shape[1], self.hidden), nn.SiLU(), nn.Dropout(0.3), nn.Linear(self.hidden, 1)
        )
        x = torch.as_tensor(features, dtype=torch.float32)
        y = torch.as_tensor(targets, dtype=torch.float32).reshape(-1, 1)
        optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)
        self.net.train()
        for _ in range(self.epochs):
            for rows in torch.randperm(len(x)).split(32):
                optimizer.zero_grad()
                nn.functional.mse_loss(self.net(x[rows]), y[rows]).backward()
                optimizer.step()
        return self

    def predict(self, features: np.ndarray) -> np.ndarray:
        self.net.eval()
        with torch.inference_mode():
            x = torch.as_tensor(features, dtype=torch.float32)
            return self.net(x).squeeze(1).numpy()

    def score(self, features: np.ndarray, targets: np.ndarray) -> float:
        residual = targets - self.predict(features)
        return 1.0 - float((residual**2).sum() / ((targets - targets.mean()) ** 2).sum())


rng = np.random.default_rng(0)
features = rng.normal(size=(300, 5))
targets = features @ np.array([1.0, -2.0, 0.5, 0.0, 1.5])
model = NeuralRegressor().fit(features[:240], targets[:240])
print("R2", round(model.score(features[240:], targets[240:]), 3))
