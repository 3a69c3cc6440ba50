"""Clients copy the global weights, train on their own, and are averaged; three rounds."""
import copy
import torch
import torch.nn as nn

torch.manual_seed(3)
glob = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1))
clients = [torch.randn(40, 5) + 0.3 * c for c in range(4)]


def local_train(model, data, epochs=3):
    model = copy.deepcopy(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(epochs):
        for b in data.split(10):
            loss = (model(b) - b.sum(1, keepdim=True)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    return model.state_dict(), loss.item()


for rnd in range(3):
    states, losses = zip(*(local_train(glob, d) for d in clients))
    mean = {k: torch.stack([s[k] for s in states]).mean(0) for k in states[0]}
    glob.load_state_dict(mean)
    print(rnd, round(sum(losses) / len(losses), 3))
