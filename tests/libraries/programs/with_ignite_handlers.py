"""ignite: checkpoints, averaging, schedules, early stopping, the search for a learning rate."""

import tempfile

import torch
from ignite.engine import Engine, Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import *
from ignite.metrics import *
from ignite.utils import manual_seed
from torch.utils.data import DataLoader, TensorDataset

manual_seed(0)
X = torch.randn(64, 5)
Y = (X.sum(1) > 0).long()
dl = DataLoader(TensorDataset(X, Y), 8, shuffle=True)
vl = DataLoader(TensorDataset(X, Y), 16)
net = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.GELU(), torch.nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), 0.01)


def step(e, b):
    net.train()
    x, y = b
    l = torch.nn.functional.cross_entropy(net(x), y) / 2
    l.backward()
    if e.state.iteration % 2 == 0:
        opt.step()
        opt.zero_grad()
    return l.item()


tr = Engine(step)
RunningAverage(output_transform=lambda o: o).attach(tr, "ra")
ev = create_supervised_evaluator(
    net,
    metrics={
        "acc": Accuracy(),
        "nll": Loss(torch.nn.CrossEntropyLoss()),
        "p": Precision(average=False),
        "r": Recall(average=False),
        "cm": ConfusionMatrix(2),
        "top": TopKCategoricalAccuracy(1),
        "f1": Fbeta(1.0),
    },
)
sch = PiecewiseLinear(opt, "lr", milestones_values=[(0, 0.0), (8, 0.02), (24, 0.001)])
tr.add_event_handler(Events.ITERATION_STARTED, sch)
d = tempfile.mkdtemp()
ck = Checkpoint(
    {"net": net, "opt": opt, "tr": tr},
    DiskSaver(d, create_dir=True, require_empty=False),
    n_saved=2,
    score_function=lambda e: e.state.metrics["acc"],
    score_name="acc",
    global_step_transform=global_step_from_engine(tr),
)
ev.add_event_handler(Events.COMPLETED, ck)
es = EarlyStopping(2, lambda e: e.state.metrics["acc"], tr)
ev.add_event_handler(Events.COMPLETED, es)
ema = EMAHandler(net, momentum=0.1)
ema.attach(tr, event=Events.ITERATION_COMPLETED(every=2))
tr.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())


@tr.on(Events.EPOCH_COMPLETED)
def _(e):
    ev.run(vl)
    m = ev.state.metrics
    print(
        e.state.epoch,
        e.state.metrics["ra"],
        m["acc"],
        m["nll"],
        m["f1"],
        m["cm"].tolist(),
        m["p"].tolist(),
        opt.param_groups[0]["lr"],
    )


@tr.on(Events.ITERATION_COMPLETED(once=5))
def once(e):
    print("fifth", e.state.output)


tr.run(dl, max_epochs=3)
import os

print(len(os.listdir(d)), sum(p.sum() for p in ema.ema_model.parameters()).item())
n2 = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.GELU(), torch.nn.Linear(16, 2))
Checkpoint.load_objects({"net": n2}, torch.load(os.path.join(d, sorted(os.listdir(d))[0]), weights_only=False))
print(n2(X[:2]).tolist())
t2 = create_supervised_trainer(net, opt, torch.nn.CrossEntropyLoss(), gradient_accumulation_steps=2)
BasicTimeProfiler().attach(t2)
print(t2.run(dl, epoch_length=4, max_epochs=2).output)
r = MeanSquaredError()
r.update((torch.randn(4), torch.randn(4)))
print(r.compute())
s = SSIM(1.0)
s.update((torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16)))
print(s.compute())
ps = PSNR(1.0)
ps.update((torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16)))
print(ps.compute())
mm = MetricsLambda(lambda a: a * 2, Accuracy())
print(type(mm).__name__)
cos = CosineAnnealingScheduler(opt, "lr", 1.0, 0.1, 4)
print([cos.get_param() for _ in range(3)])
lc = create_lr_scheduler_with_warmup(torch.optim.lr_scheduler.ExponentialLR(opt, 0.9), 0.0, 3)
print(type(lc).__name__)
