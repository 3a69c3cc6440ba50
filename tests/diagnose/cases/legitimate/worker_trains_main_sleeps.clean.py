"""Must stay silent: the main thread waits in a sleep loop; the worker trains cleanly and reports through a queue."""
import queue
import threading
import time
import torch
from torch import nn

torch.manual_seed(5)
q = queue.Queue()


def work():
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for i in range(60):
        x = torch.randn(8, 4)
        loss = (net(x) - x[:, :2]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        q.put(loss.item())


t = threading.Thread(target=work)
t.start()
seen = 0
while t.is_alive() or not q.empty():
    while not q.empty():
        q.get()
        seen += 1
    time.sleep(0.002)
print(seen)
