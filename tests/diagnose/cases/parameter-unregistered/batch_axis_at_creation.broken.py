"""nn.Parameter(...).unsqueeze(0) is no longer a Parameter: the table of positions is not trained."""

import torch
from torch import nn

torch.manual_seed(14)


class PositionalClassifier(nn.Module):
    def __init__(self, length: int = 6, width: int = 8):
        super().__init__()
        self.tokens = nn.Embedding(11, width)
        self.positions = nn.Parameter(0.02 * torch.randn(length, width)).unsqueeze(0)  # EXPECT: parameter-unregistered
        self.attend = nn.MultiheadAttention(width, 2, batch_first=True)
        self.out = nn.Linear(width, 11)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        h = self.tokens(tokens) + self.positions
        h = h + self.attend(h, h, h, need_weights=False)[0]
        return self.out(h)


def main() -> None:
    model = PositionalClassifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(25):
        tokens = torch.randint(0, 11, (12, 6))
        logits = model(tokens)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), tokens.roll(1, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(len(list(model.parameters())), loss.item())


main()
