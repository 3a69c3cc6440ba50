"""Metrics come from a generator that evaluates lazily, model by model, in inference mode."""
import torch
import torch.nn as nn

torch.manual_seed(21)


def evaluate(models, batches):
    for name, m in models.items():
        m.eval()
        hits = total = 0
        for x, y in batches:
            with torch.inference_mode():
                hits += (m(x).argmax(-1) == y).sum().item()
            total += len(y)
        m.train()
        yield name, hits / total


models = {f"m{i}": nn.Sequential(nn.Linear(5, 8 * (i + 1)), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8 * (i + 1), 2)) for i in range(3)}
opts = {k: torch.optim.Adam(m.parameters(), 5e-3) for k, m in models.items()}
held_out = [(x, (x[:, 0] > 0).long()) for x in torch.randn(3, 20, 5)]
for epoch in range(3):
    for _ in range(8):
        x = torch.randn(32, 5)
        for k, m in models.items():
            opts[k].zero_grad()
            nn.functional.cross_entropy(m(x), (x[:, 0] > 0).long()).backward()
            opts[k].step()
    print(epoch, sorted(k for k, _ in evaluate(models, held_out)))
