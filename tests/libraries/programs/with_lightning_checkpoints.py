"""lightning: resuming, schedules by step, finetuning, manual optimization, Fabric in half precision."""

import logging
import os
import tempfile
import warnings

import lightning as L
import torch

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import torchmetrics
from lightning.pytorch import LightningModule, Trainer, seed_everything
from lightning.pytorch.callbacks import *
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, TensorDataset

seed_everything(0, verbose=False)
X = torch.randn(64, 6)
Y = X[:, :2].sum(1, keepdim=True)
tl = lambda: DataLoader(TensorDataset(X, Y), 8, shuffle=True)
vl = lambda: DataLoader(TensorDataset(X[:16], Y[:16]), 8)


class R(LightningModule):
    def __init__(s, lr=0.02, kind="cos"):
        super().__init__()
        s.save_hyperparameters()
        s.net = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.SiLU(), torch.nn.Linear(12, 1))
        s.mae = torchmetrics.MeanAbsoluteError()
        s.seen = []
        s.example_input_array = torch.zeros(1, 6)

    def forward(s, x):
        return s.net(x)

    def training_step(s, b, i):
        l = torch.nn.functional.mse_loss(s(b[0]), b[1])
        s.log("loss", l, prog_bar=True)
        s.seen.append(l.detach())
        return {"loss": l}

    def validation_step(s, b, i):
        p = s(b[0])
        s.mae(p, b[1])
        s.log("mae", s.mae, on_epoch=True)
        s.log("val", torch.nn.functional.mse_loss(p, b[1]))

    def on_train_epoch_end(s):
        print(
            s.current_epoch,
            torch.stack(s.seen).mean().item(),
            s.trainer.callback_metrics["val"].item(),
            s.trainer.optimizers[0].param_groups[0]["lr"],
        )
        s.seen.clear()

    def configure_optimizers(s):
        o = torch.optim.SGD(s.parameters(), s.hparams.lr, momentum=0.9)
        return (
            [o],
            [
                {
                    "scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(o, 24)
                    if s.hparams.kind == "cos"
                    else torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=24),
                    "interval": "step",
                }
            ],
        )

    def on_save_checkpoint(s, c):
        c["extra"] = 7

    def on_load_checkpoint(s, c):
        print("extra", c["extra"])


kw = dict(accelerator="cpu", devices=1, enable_progress_bar=False, enable_model_summary=False)
d = tempfile.mkdtemp()
ck = ModelCheckpoint(d, monitor="val", save_last=True, save_top_k=2, filename="{epoch}")
t = Trainer(
    max_epochs=3,
    logger=CSVLogger(d),
    callbacks=[ck, LearningRateMonitor("step"), Timer(), GradientAccumulationScheduler({0: 1, 1: 2}), ModelSummary(1)],
    log_every_n_steps=4,
    val_check_interval=0.5,
    **kw,
)
m = R()
t.fit(m, tl(), vl())
print(sorted(os.listdir(d))[:4], t.validate(m, vl(), verbose=False))
m = R.load_from_checkpoint(d + "/last.ckpt")
print(m.hparams.lr, m(X[:1]).item())


class BF(BaseFinetuning):
    def freeze_before_training(s, m):
        s.freeze(m.net[0])

    def finetune_function(s, m, e, o):
        if e == 1:
            s.unfreeze_and_add_param_group(m.net[0], o, lr=0.001)


class CB(Callback):
    def on_train_batch_end(s, tr, m, o, b, i):
        s.n = getattr(s, "n", 0) + 1

    def on_before_optimizer_step(s, tr, m, o):
        s.g = sum(p.grad.norm() for p in m.parameters() if p.grad is not None).item()


seed_everything(3, verbose=False)
cb = CB()
t = Trainer(
    max_epochs=2,
    callbacks=[cb, BF(), Timer(), EarlyStopping("val", mode="min")],
    logger=False,
    enable_checkpointing=False,
    **kw,
)
t.fit(R(), tl(), vl())
print(cb.n, cb.g)
f = L.Fabric(accelerator="cpu", precision="bf16-mixed")
f.launch()
seed_everything(4, verbose=False)
net = torch.nn.Linear(6, 1)
o = torch.optim.Adam(net.parameters(), 0.01)
net, o = f.setup(net, o)
dl = f.setup_dataloaders(tl())
for i, (x, y) in enumerate(dl):
    with f.no_backward_sync(net, enabled=i % 2 == 0):
        l = torch.nn.functional.mse_loss(net(x), y)
        f.backward(l)
    if i % 2:
        o.step()
        o.zero_grad()
print(round(l.item(), 2))
print(f.all_reduce(torch.ones(2)).tolist())
f.print("x")


class CLM(LightningModule):
    def __init__(s):
        super().__init__()
        s.automatic_optimization = False
        s.a = torch.nn.Linear(6, 1)
        s.b = torch.nn.Linear(1, 6)

    def training_step(s, b, i):
        oa, ob = s.optimizers()
        sa = s.lr_schedulers()
        l = (s.b(s.a(b[0])) - b[0]).pow(2).mean()
        oa.zero_grad()
        ob.zero_grad()
        s.manual_backward(l)
        s.clip_gradients(oa, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
        oa.step()
        ob.step()
        sa.step()
        s.log_dict({"l": l, "two": l * 2})

    def configure_optimizers(s):
        oa = torch.optim.Adam(s.a.parameters(), 0.01)
        return [
            {"optimizer": oa, "lr_scheduler": torch.optim.lr_scheduler.StepLR(oa, 3)},
            {"optimizer": torch.optim.Adam(s.b.parameters(), 0.01)},
        ]

    def predict_step(s, b, i):
        return s.a(b[0])


seed_everything(6, verbose=False)
t = Trainer(max_epochs=2, logger=False, enable_checkpointing=False, **kw)
m = CLM()
t.fit(m, tl())
print(t.callback_metrics["l"].item(), torch.cat(t.predict(m, vl())).sum().item())
