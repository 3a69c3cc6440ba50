"""a tagger's softmax over the tags is reshaped and masked before F.cross_entropy gets it."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(18)


class Tagger(nn.Module):
    def __init__(self, vocab=15, tags=5):
        super().__init__()
        self.embed = nn.Embedding(vocab, 12)
        self.lstm = nn.LSTM(12, 16, batch_first=True, bidirectional=True)
        self.hidden2tag = nn.Linear(32, tags)

    def forward(self, tokens):
        states, _ = self.lstm(self.embed(tokens))
        return F.softmax(self.hidden2tag(states), dim=-1)  # ALSO: softmax-twice


def tagging_loss(scores, tags, lengths):
    mask = torch.arange(tags.size(1)).unsqueeze(0) < lengths.unsqueeze(1)
    active = scores.reshape(-1, scores.size(-1))[mask.reshape(-1)]
    return F.cross_entropy(active, tags.reshape(-1)[mask.reshape(-1)])  # EXPECT: softmax-twice


def main():
    tokens = torch.randint(0, 15, (96, 8))
    tags, lengths = tokens % 5, torch.randint(3, 9, (96,))
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(40):
        idx = torch.randint(0, 96, (16,))
        loss = tagging_loss(model(tokens[idx]), tags[idx], lengths[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print("step", step, "loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
