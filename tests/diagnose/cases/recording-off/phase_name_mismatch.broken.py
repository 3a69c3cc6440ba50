"""set_grad_enabled(phase == "training"), but the phase is called "train": recording is off in both phases."""
import torch
from torch import nn

torch.manual_seed(9)


class CharRNN(nn.Module):
    def __init__(self, vocab=10):
        super().__init__()
        self.embed = nn.Embedding(vocab, 8)
        self.gru = nn.GRU(8, 24, batch_first=True)
        self.out = nn.Linear(24, vocab)

    def forward(self, tokens):
        h, _ = self.gru(self.embed(tokens))
        return self.out(h)


text = torch.arange(400).remainder(7).view(40, 10)
data = {"train": text[:32].split(8), "val": text[32:].split(8)}
model = CharRNN()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    for phase in ["train", "val"]:
        model.train(phase == "train")
        running = 0.0
        for tokens in data[phase]:
            optimizer.zero_grad()
            with torch.set_grad_enabled(phase == "training"):  # EXPECT-ERROR: recording-off
                outputs = model(tokens[:, :-1])
                loss = criterion(outputs.flatten(0, 1), tokens[:, 1:].flatten())  # ALSO: recording-off
                if phase == "train":
                    loss.backward()
                    optimizer.step()
            running += loss.item()
        print(epoch, phase, round(running / len(data[phase]), 4))
