"""A diagonal recurrence is trained on chunks of a stream; the state comes in with all its past (pytorch#2769)."""
import argparse

import torch
from torch import nn


class DiagonalRNN(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.log_decay = nn.Parameter(torch.linspace(-1.0, 2.0, width))
        self.inlet = nn.Linear(1, width)
        self.outlet = nn.Linear(width, 1)

    def forward(self, chunk: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        decay = torch.sigmoid(self.log_decay)
        outputs = []
        for value in chunk:
            state = decay * state + (1 - decay) * self.inlet(value.view(1, 1))
            outputs.append(state)
        return torch.cat(outputs), state


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--chunk", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.02)
    return parser.parse_args([])


def main() -> None:
    args = parse()
    torch.manual_seed(2)
    model = DiagonalRNN(args.width)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    stream = torch.sin(torch.arange(0, 30, 0.2))
    state = torch.zeros(1, args.width)
    for start in range(0, len(stream) - args.chunk - 1, args.chunk):
        chunk = stream[start : start + args.chunk]
        target = stream[start + 1 : start + 1 + args.chunk].unsqueeze(1)
        features, state = model(chunk, state)  # EXPECT: graph-deepens
        prediction = features.mean(1, keepdim=True)
        loss = (prediction - target).pow(2).mean() + 0.1 * (model.outlet(features.detach()) - target).pow(2).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
    print("loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
