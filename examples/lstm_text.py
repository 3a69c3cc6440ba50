"""An LSTM reads nursery rhymes again and again, its state carried on from piece to piece, and then recites."""

from pathlib import Path

import clarion as torch
from clarion import nn, optim
from clarion.nn import functional as F

TEXT = (Path(__file__).parent / "rhymes.txt").read_text()
ALPHABET = sorted(set(TEXT))
WIDTH, READERS, PIECE = 128, 8, 24


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.characters = nn.Embedding(len(ALPHABET), 32)
        self.lstm = nn.LSTM(32, WIDTH, num_layers=2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(WIDTH, len(ALPHABET))

    def forward(self, tokens, state=None):
        hidden, state = self.lstm(self.characters(tokens), state)
        return self.head(hidden), state


def pieces(data: torch.Tensor, position: int) -> tuple[torch.Tensor, torch.Tensor]:
    """What each reader reads next, and the character after each: the text is a ring, read from eight places."""
    places = torch.arange(READERS)[:, None] * (len(data) // READERS) + position + torch.arange(PIECE)
    return data[places % len(data)], data[(places + 1) % len(data)]


@torch.no_grad()
def recite(model: Reader, start: str, length: int, temperature: float = 0.5) -> str:
    model.eval()
    written = start
    scores, state = model(torch.tensor([[ALPHABET.index(c) for c in start]]))
    for _ in range(length):
        token = torch.multinomial((scores[:, -1] / temperature).softmax(-1), 1)
        written += ALPHABET[token.item()]
        scores, state = model(token, state)
    model.train()
    return written


def run(steps: int = 400) -> list[float]:
    torch.manual_seed(0)
    data = torch.tensor([ALPHABET.index(c) for c in TEXT])
    model = Reader()
    optimizer = optim.Adam(model.parameters(), lr=5e-3)
    losses, state = [], None
    for step in range(1, steps + 1):
        tokens, following = pieces(data, step * PIECE)
        if state is not None:
            state = tuple(part.detach() for part in state)  # gradients end at the piece's beginning, memory does not
        scores, state = model(tokens, state)
        loss = F.cross_entropy(scores.flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 100 == 0:
            print(f"step {step:4}  loss {loss.item():.4f}")
    if steps >= 100:
        print(recite(model, "Mary had", 130))
    return losses


if __name__ == "__main__":
    run()
