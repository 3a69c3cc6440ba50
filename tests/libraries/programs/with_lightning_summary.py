"""lightning: the summary of a model with its operations, and their count."""

import warnings

import torch

warnings.simplefilter("ignore")
import lightning as L
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(0, verbose=False)


class M(L.LightningModule):
    def __init__(s):
        super().__init__()
        s.example_input_array = torch.zeros(1, 1, 8, 8)
        s.c = torch.nn.Conv2d(1, 4, 3)
        s.l = torch.nn.Linear(144, 3)

    def forward(s, x):
        return s.l(s.c(x).relu().flatten(1))

    def training_step(s, b, i):
        return torch.nn.functional.cross_entropy(s(b[0]), b[1])

    def configure_optimizers(s):
        return torch.optim.Adam(s.parameters(), 0.001)


m = M()
t = L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
t.fit(m, DataLoader(TensorDataset(torch.randn(16, 1, 8, 8), torch.randint(3, (16,))), 4))
print(m.l.weight.sum().item())
from lightning.pytorch.utilities.model_summary import ModelSummary

s = ModelSummary(m, max_depth=-1)
print(s)
print(s.total_flops, s.total_parameters)
from lightning.fabric.utilities.throughput import measure_flops

with torch.device("meta"):
    mm = M()
x = torch.randn(2, 1, 8, 8, device="meta")
print(measure_flops(mm, lambda: mm(x)), measure_flops(mm, lambda: mm(x), lambda y: y.sum()))
