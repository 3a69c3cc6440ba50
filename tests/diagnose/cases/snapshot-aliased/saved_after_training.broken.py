"""The best state is noted during training and written to the file only at the end, when it has moved on."""
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
    checkpoint = {}
    best = float("inf")
    for epoch in range(12):
        for batch in data[torch.randperm(150)].split(30):
            loss = nn.functional.mse_loss(model(batch), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if loss.item() < best:
            best = loss.item()
            checkpoint = {"epoch": epoch, "model": model.state_dict(), "loss": best}  # EXPECT: snapshot-aliased
    file = io.BytesIO()
    torch.save(checkpoint, file)  # ALSO: snapshot-aliased
    print("kept epoch", checkpoint["epoch"], "loss", round(best, 4), "bytes", file.tell())


if __name__ == "__main__":
    main()
