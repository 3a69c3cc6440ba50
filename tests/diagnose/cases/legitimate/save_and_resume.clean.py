"""Must stay silent: a checkpoint of model, optimizer and scheduler is written, and training resumes from it."""
import io
import torch
from torch import nn


def build():
    model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.7)


def train(model, optimizer, scheduler, steps):
    for _ in range(steps):
        x = torch.randn(24, 5)
        loss = nn.functional.cross_entropy(model(x), (x[:, 0] > x[:, 1]).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    return loss.item()


def main():
    torch.manual_seed(163)
    parts = build()
    print("first half", round(train(*parts, steps=25), 4))
    file = io.BytesIO()
    torch.save([part.state_dict() for part in parts], file)
    file.seek(0)
    resumed = build()
    for part, state in zip(resumed, torch.load(file, weights_only=False)):
        part.load_state_dict(state)
    print("second half", round(train(*resumed, steps=25), 4), "lr", resumed[2].get_last_lr())


if __name__ == "__main__":
    main()
