"""Legitimate twin: the same hard message with a straight-through gradient (hard + soft - soft.detach())."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(15)


class Speaker(nn.Module):
    def __init__(self, vocab=8):
        super().__init__()
        self.vocab = vocab
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, vocab))

    def forward(self, target):
        logits = self.net(target)
        soft = logits.softmax(1)
        hard = F.one_hot(soft.argmax(1), self.vocab).float()
        return hard + soft - soft.detach()


class Listener(nn.Module):
    def __init__(self, vocab=8):
        super().__init__()
        self.read = nn.Linear(vocab, 6)

    def forward(self, message):
        return self.read(message)


speaker, listener = Speaker(), Listener()
optimizer = torch.optim.Adam(
    list(speaker.parameters()) + list(listener.parameters()), lr=1e-2)
before = speaker.net[0].weight.detach().clone()
for game in range(50):
    concept = torch.eye(6)[torch.randint(0, 6, (32,))]
    guess = listener(speaker(concept))
    loss = F.mse_loss(guess, concept)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "speaker moved", (speaker.net[0].weight - before).abs().max().item())
