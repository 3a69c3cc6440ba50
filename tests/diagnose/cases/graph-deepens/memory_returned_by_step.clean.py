"""Legitimate twin: the loop hands over a detached memory."""
import torch
from torch import nn

torch.manual_seed(17)
encoder, head = nn.Linear(4, 6), nn.Linear(6, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.001)


def run_chunk(x, memory):
    faded = memory * 0.9
    memory = faded + encoder(x).mean(0)
    loss = (memory.sum() - x.sum()) ** 2 + 0.01 * head(memory.detach()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return memory, loss.item()


def main():
    memory = torch.zeros(6)
    for chunk in torch.randn(30, 5, 4):
        memory, loss = run_chunk(chunk, memory.detach())
    print("loss", round(loss, 4), "memory", round(memory.sum().item(), 4))


main()
