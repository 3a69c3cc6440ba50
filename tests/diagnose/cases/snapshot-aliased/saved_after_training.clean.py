"""Legitimate twin: the file is written at once; the final state is saved after the last step, by reference."""
import io
import torch
from torch import nn

torch.manual_seed(95)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(12, 3)
        self.decoder = nn.Linear(3, 12)

    def forward(self, x):
        return self.decoder(torch.tanh(self.encoder(x)))


def main():
    data = torch.randn(150, 3) @ torch.randn(3, 12)
    model = Autoencoder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    file = io.BytesIO()
    best = float("inf")
    for epoch in range(12):
        for batch in data[torch.randperm(150)].split(30):
            loss = nn.functional.mse_loss(model(batch), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if loss.item() < best:
            best = loss.item()
            file = io.BytesIO()
            torch.save({"epoch": epoch, "model": model.state_dict(), "loss": best}, file)
    final = model.state_dict()
    torch.save(final, io.BytesIO())
    file.seek(0)
    print("kept epoch", torch.load(file)["epoch"], "loss", round(best, 4))


if __name__ == "__main__":
    main()
