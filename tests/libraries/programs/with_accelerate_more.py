"""accelerate: accumulation, clipping, state, gathering, weights without memory."""

import os
import tempfile

import torch
from accelerate import (
    Accelerator,
    init_empty_weights,
)
from accelerate.utils import (
    ProjectConfiguration,
    find_executable_batch_size,
    set_seed,
)
from torch.utils.data import DataLoader, TensorDataset

set_seed(0)
a = Accelerator(
    gradient_accumulation_steps=2,
    cpu=True,
    project_config=ProjectConfiguration(project_dir=tempfile.mkdtemp(), automatic_checkpoint_naming=True),
)
print(a.device, a.num_processes, a.is_main_process, a.mixed_precision)
m = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.GELU(), torch.nn.Linear(16, 3))
o = torch.optim.AdamW(m.parameters(), lr=1e-2)
s = torch.optim.lr_scheduler.StepLR(o, 2, 0.5)
x, y = torch.randn(50, 6), torch.randint(0, 3, (50,))
dl = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
m, o, dl, s = a.prepare(m, o, dl, s)
for e in range(2):
    for xb, yb in dl:
        with a.accumulate(m):
            l = torch.nn.functional.cross_entropy(m(xb), yb)
            a.backward(l)
            if a.sync_gradients:
                print("norm", a.clip_grad_norm_(m.parameters(), 1.0).item())
            o.step()
            s.step()
            o.zero_grad()
    print(e, l.item(), s.get_last_lr())
a.save_state()
print(os.listdir(os.path.join(a.project_dir, "checkpoints")))
with torch.no_grad():
    before = m(x).sum().item()
    [p.zero_() for p in m.parameters()]
a.load_state(os.path.join(a.project_dir, "checkpoints", "checkpoint_0"))
print(abs(m(x).sum().item() - before) < 1e-5)
all_p = [a.gather_for_metrics((m(xb).argmax(-1), yb)) for xb, yb in dl]
print(
    sum((p == t).sum().item() for p, t in all_p),
    a.gather(torch.ones(2)).tolist(),
    a.reduce(torch.ones(2)).tolist(),
    a.pad_across_processes(torch.ones(2)).shape,
)
u = a.unwrap_model(m)
print(type(u).__name__)
a.save_model(m, tempfile.mkdtemp())
with init_empty_weights():
    e = torch.nn.Linear(1000, 1000)
print(e.weight.device, sum(p.numel() for p in e.parameters()))


@find_executable_batch_size(starting_batch_size=64)
def f(batch_size):
    if batch_size > 16:
        raise RuntimeError("CUDA out of memory.")
    return batch_size


print(f())
with a.autocast():
    print(m(x[:2]).dtype)
skip = a.skip_first_batches(dl, 5)
print(len(list(skip)))
a.print("done")
print(a.free_memory())
a.end_training()
