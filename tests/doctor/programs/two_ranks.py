"""DistributedDataParallel with two ranks of gloo, one process each; the broken one never clears."""

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
    import clarion.doctor

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    with clarion.doctor.watch() as watch:
        train(rank)
        dist.barrier()
    for finding in watch.findings:
        print("FOUND", finding.name, finding.line, finding.what.split(":")[0], flush=True)
    assert not watch._session.failures, watch._session.failures
    dist.barrier()
    # Gloo's threads abort the process now and then as it ends, without us as well: this rank ends before they are taken down.
    os._exit(0)


def train(rank):
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


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(run, args=(port,), nprocs=2)
