"""A small causal transformer reads nursery rhymes character by character, and then writes some."""

from pathlib import Path

import clarion as torch
from clarion import nn, optim
from clarion.nn import functional as F

TEXT = (Path(__file__).parent / "rhymes.txt").read_text()
ALPHABET = sorted(set(TEXT))
CONTEXT, WIDTH, HEADS, BLOCKS, BATCH = 48, 64, 4, 2, 16


class Block(nn.Module):
    """Attention to what came before, then a network of two layers, each added to its input."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(n, length, WIDTH))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.characters = nn.Embedding(len(ALPHABET), WIDTH)
        self.positions = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(ALPHABET), bias=False)
        self.head.weight = self.characters.weight  # the same table both ways
        for table in (self.characters, self.positions):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.characters(tokens) + self.positions(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


@torch.no_grad()
def write(model: nn.Module, start: str, length: int, temperature: float = 0.6) -> str:
    tokens = torch.tensor([[ALPHABET.index(c) for c in start]])
    for _ in range(length):
        scores = model(tokens[:, -CONTEXT:])[:, -1] / temperature
        tokens = torch.cat([tokens, torch.multinomial(scores.softmax(-1), 1)], dim=1)
    return "".join(ALPHABET[i] for i in tokens[0].tolist())


def run(steps: int = 300) -> list[float]:
    torch.manual_seed(0)
    data = torch.tensor([ALPHABET.index(c) for c in TEXT])
    model = Transformer()
    optimizer = optim.AdamW(model.parameters(), lr=3e-3)
    size = sum(parameter.numel() for parameter in model.parameters())
    print(f"{len(TEXT)} characters, {len(ALPHABET)} different; {size:,} parameters")
    losses = []
    for step in range(1, steps + 1):
        starts = torch.randint(len(data) - CONTEXT, (BATCH, 1))
        windows = data[starts + torch.arange(CONTEXT + 1)]
        scores = model(windows[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 100 == 0:
            print(f"step {step:4}  loss {loss.item():.4f}")
    if steps >= 100:
        print(write(model, "Jack", 150))
    return losses


if __name__ == "__main__":
    run()
