"""recording follows a flag that is on by default."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--train", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--batch", type=int, default=20)
    return parser.parse_args([])


class Runner:
    def __init__(self, args):
        torch.manual_seed(184)
        self.args = args
        self.model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 5))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def epoch(self, data):
        total = 0.0
        with torch.set_grad_enabled(self.args.train):
            for x in data.split(self.args.batch):
                loss = F.kl_div(F.log_softmax(self.model(x), 1), F.softmax(x, 1), reduction="batchmean")
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item()
        return total


if __name__ == "__main__":
    runner = Runner(options())
    data = torch.randn(80, 5)
    print([round(runner.epoch(data), 3) for _ in range(3)])
