"""One nn.Dropout at module level serves all blocks; model.eval() cannot reach it (C47)."""
import torch
from torch import nn

torch.manual_seed(52)
DROPOUT = nn.Dropout(p=0.25)


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + DROPOUT(torch.relu(self.inner(self.norm(x))))  # EXPECT: dropout-ignores-mode


class Mixer(nn.Module):
    def __init__(self, inputs: int = 9, width: int = 20, depth: int = 3) -> None:
        super().__init__()
        self.inlet = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.outlet = nn.Linear(width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.inlet(x)
        for block in self.blocks:
            x = block(x)
        return self.outlet(x).squeeze(-1)


def main() -> None:
    x = torch.randn(200, 9)
    y = x[:, 0] * x[:, 1]
    model = Mixer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(4):
        model.train()
        for rows in torch.randperm(160).split(16):
            optimizer.zero_grad()
            nn.functional.huber_loss(model(x[rows]), y[rows]).backward()
            optimizer.step()
        model.eval()
        with torch.inference_mode():
            error = nn.functional.l1_loss(model(x[160:]), y[160:])
        print("epoch", epoch, "error", round(error.item(), 4))


if __name__ == "__main__":
    main()
