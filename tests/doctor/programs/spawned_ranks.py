"""DistributedDataParallel with two ranks of gloo that know nothing of clarion; the broken one never clears. torchrun, or spawn."""

import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

BROKEN = "clean" not in sys.argv


def run(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    train(rank)


def train(rank):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    torch.manual_seed(rank)
    for _ in range(12):
        x = torch.randn(8, 4)
        if not BROKEN:
            optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
        optimizer.step()  # EXPECT: stale-gradient
    dist.barrier()
    os._exit(0)  # Gloo's threads abort the process now and then as it ends, without us as well


if __name__ == "__main__":
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
        train(dist.get_rank())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    method = "fork" if "fork" in sys.argv else "spawn"
    mp.start_processes(run, args=(port,), nprocs=2, start_method=method)
    print("trained")
