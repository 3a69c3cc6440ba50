"""accelerate: accumulation, checkpoints, skipped batches, empty weights, offloading."""

import tempfile

import torch
from accelerate import (
    Accelerator,
    cpu_offload,
    init_empty_weights,
    load_checkpoint_and_dispatch,
)
from accelerate.utils import *
from torch.utils.data import DataLoader, TensorDataset

set_seed(0)
d = tempfile.mkdtemp()
a = Accelerator(
    cpu=True,
    gradient_accumulation_steps=3,
    project_config=ProjectConfiguration(project_dir=d, automatic_checkpoint_naming=True, total_limit=2),
)
m = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
o = torch.optim.AdamW(m.parameters(), 0.01)
s = torch.optim.lr_scheduler.CosineAnnealingLR(o, 10)
X = torch.randn(25, 4)
Y = torch.randint(2, (25,))
dl = DataLoader(TensorDataset(X, Y), 4, shuffle=True)
m, o, dl, s = a.prepare(m, o, dl, s)
ema = []
for ep in range(2):
    for i, (x, y) in enumerate(dl):
        with a.accumulate(m):
            l = torch.nn.functional.cross_entropy(m(x), y)
            a.backward(l)
            if a.sync_gradients:
                gn = a.clip_grad_norm_(m.parameters(), 1.0)
                print(ep, i, l.item(), gn.item())
            o.step()
            s.step()
            o.zero_grad()
    a.save_state()
print(
    s.get_last_lr(),
    a.gather_for_metrics(torch.arange(3)).tolist(),
    a.reduce(torch.ones(2)).tolist(),
    a.is_main_process,
    a.num_processes,
    a.pad_across_processes(torch.ones(2)).tolist(),
)
w = m[0].weight.clone()
m[0].weight.data.zero_()
a.load_state(d + "/checkpoints/checkpoint_1")
print(torch.equal(w, m[0].weight))
u = a.unwrap_model(m)
print(type(u).__name__)
a.save_model(m, d + "/sm")
import os

print(sorted(os.listdir(d + "/sm")))
sk = a.skip_first_batches(dl, 4)
print(sum(1 for _ in sk))
a.free_memory()
with init_empty_weights():
    e = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
print(e[0].weight.device, compute_module_sizes(e))
e = load_checkpoint_and_dispatch(e, d + "/sm/model.safetensors", device_map={"": "cpu"})
print(e(X[:2]).tolist())


@find_executable_batch_size(starting_batch_size=16)
def tr(bs):
    if bs > 4:
        raise RuntimeError("CUDA out of memory.")
    return bs


print(tr())
print(
    send_to_device({"a": [X[:1]]}, "cpu")["a"][0].shape,
    honor_type((1, 2), iter([3, 4])),
    concatenate([X[:1], X[1:2]]).shape,
    find_batch_size({"x": X}),
    get_data_structure(X[:2]).shape if hasattr(get_data_structure(X[:2]), "shape") else "",
)
b = a
with a.autocast():
    print(torch.nn.functional.linear(X[:1], X[:3]).dtype)
with a.no_sync(m):
    pass
co = cpu_offload(torch.nn.Linear(4, 2), execution_device=torch.device("cpu"))
print(co(X[:2]).shape)
print(a.optimizer_step_was_skipped, a.get_state_dict(m).keys().__len__())
set_seed(3)
print(torch.rand(1).item(), __import__("random").random(), __import__("numpy").random.rand())
