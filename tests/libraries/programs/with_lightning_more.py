"""lightning: data modules, callbacks, manual optimization, Fabric, averaging of weights."""

import logging
import tempfile
import warnings

import torch

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
import lightning as L
import torchmetrics
from lightning.fabric import Fabric
from lightning.pytorch.callbacks import (
    Callback,
    EarlyStopping,
    LearningRateMonitor,
    ModelCheckpoint,
    StochasticWeightAveraging,
)
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, TensorDataset, random_split

L.seed_everything(1, verbose=False)


class DM(L.LightningDataModule):
    def setup(s, stage=None):
        g = torch.Generator().manual_seed(0)
        x = torch.randn(80, 8, generator=g)
        y = (x.sum(1) > 0).long()
        s.tr, s.va, s.te = random_split(TensorDataset(x, y), [48, 16, 16], generator=g)

    def train_dataloader(s):
        return DataLoader(s.tr, batch_size=8, shuffle=True)

    def val_dataloader(s):
        return DataLoader(s.va, batch_size=8)

    def test_dataloader(s):
        return DataLoader(s.te, batch_size=8)

    predict_dataloader = test_dataloader


class M(L.LightningModule):
    def __init__(s, lr=1e-2, h=16):
        super().__init__()
        s.save_hyperparameters()
        s.net = torch.nn.Sequential(
            torch.nn.Linear(8, h, bias=False),  # BatchNorm takes it away again: its gradient is rounding alone
            torch.nn.BatchNorm1d(h),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.1),
            torch.nn.Linear(h, 2),
        )
        s.acc = torchmetrics.Accuracy(task="multiclass", num_classes=2)

    def forward(s, x):
        return s.net(x)

    def training_step(s, b, i):
        x, y = b
        l = torch.nn.functional.cross_entropy(s(x), y)
        s.log("train_loss", l, on_step=True, on_epoch=True)
        return l

    def validation_step(s, b, i):
        x, y = b
        o = s(x)
        s.acc(o, y)
        s.log_dict({"val_loss": torch.nn.functional.cross_entropy(o, y), "val_acc": s.acc}, on_epoch=True)

    def test_step(s, b, i):
        x, y = b
        s.log("test_loss", torch.nn.functional.cross_entropy(s(x), y))

    def predict_step(s, b, i):
        return s(b[0]).argmax(-1)

    def configure_optimizers(s):
        o = torch.optim.AdamW(s.parameters(), lr=s.hparams.lr)
        return {
            "optimizer": o,
            "lr_scheduler": {
                "scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(o, patience=1),
                "monitor": "val_loss",
            },
        }


class P(Callback):
    def on_train_epoch_end(s, t, m):
        print(t.current_epoch, {k: round(float(v), 5) for k, v in sorted(t.callback_metrics.items())})


d = tempfile.mkdtemp()
ck = ModelCheckpoint(dirpath=d, monitor="val_loss", save_top_k=1, mode="min")
t = L.Trainer(
    max_epochs=4,
    accelerator="cpu",
    devices=1,
    callbacks=[ck, EarlyStopping("val_loss", patience=3), P(), LearningRateMonitor("epoch")],
    logger=CSVLogger(d),
    enable_progress_bar=False,
    enable_model_summary=False,
    gradient_clip_val=0.5,
    accumulate_grad_batches=2,
    log_every_n_steps=2,
    num_sanity_val_steps=1,
)
m = M()
t.fit(m, datamodule=DM())
print(ck.best_model_score.item())
print(t.test(m, datamodule=DM(), verbose=False))
print(torch.cat(t.predict(m, datamodule=DM())).tolist())
m2 = M.load_from_checkpoint(ck.best_model_path)
print(m2.hparams.h, t.validate(m2, datamodule=DM(), verbose=False))


class GAN(L.LightningModule):
    def __init__(s):
        super().__init__()
        s.automatic_optimization = False
        s.g = torch.nn.Linear(2, 4)
        s.d = torch.nn.Linear(4, 1)

    def training_step(s, b, i):
        og, od = s.optimizers()
        z = torch.randn(8, 2)
        s.toggle_optimizer(og)
        lg = torch.nn.functional.softplus(-s.d(s.g(z))).mean()
        og.zero_grad()
        s.manual_backward(lg)
        og.step()
        s.untoggle_optimizer(og)
        s.toggle_optimizer(od)
        ld = (
            torch.nn.functional.softplus(s.d(s.g(z).detach())).mean()
            + torch.nn.functional.softplus(-s.d(b[0][:, :4])).mean()
        )
        od.zero_grad()
        s.manual_backward(ld)
        od.step()
        s.untoggle_optimizer(od)
        s.log("g", lg)
        s.log("d", ld)

    def configure_optimizers(s):
        return torch.optim.Adam(s.g.parameters(), 1e-2), torch.optim.Adam(s.d.parameters(), 1e-2)


L.seed_everything(2, verbose=False)
g = GAN()
t = L.Trainer(
    max_steps=12,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
t.fit(g, datamodule=DM())
print({k: float(v) for k, v in sorted(t.logged_metrics.items())})
f = Fabric(accelerator="cpu", devices=1)
f.launch()
f.seed_everything(3, verbose=False)
net = torch.nn.Linear(8, 2)
o = torch.optim.SGD(net.parameters(), lr=0.1)
net, o = f.setup(net, o)
dm = DM()
dm.setup()
dl = f.setup_dataloaders(dm.train_dataloader())
for i, (x, y) in enumerate(dl):
    l = torch.nn.functional.cross_entropy(net(x), y)
    o.zero_grad()
    f.backward(l)
    f.clip_gradients(net, o, max_norm=1.0)
    o.step()
print(l.item())
f.save(d + "/f.ckpt", {"m": net, "o": o, "s": 3})
st = {"m": net, "o": o, "s": 0}
f.load(d + "/f.ckpt", st)
print(st["s"], f.all_gather(torch.ones(1)).tolist(), f.global_rank)
L.seed_everything(4, verbose=False)
t = L.Trainer(fast_dev_run=True, accelerator="cpu", enable_progress_bar=False, enable_model_summary=False, logger=False)
t.fit(M(), datamodule=DM())
t = L.Trainer(
    max_epochs=2,
    accelerator="cpu",
    callbacks=[StochasticWeightAveraging(1e-2, swa_epoch_start=1)],
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    precision="bf16-mixed",
)
mm = M()
mm.configure_optimizers = lambda: torch.optim.SGD(mm.parameters(), 0.01)
t.fit(mm, datamodule=DM())
print(round(float(t.callback_metrics["val_loss"]), 2))
