"""Lightning: a module and its Trainer, with validation and a checkpoint; and Fabric."""

import logging
import tempfile
import warnings

import lightning
import torch
from lightning.fabric import Fabric
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
lightning.seed_everything(0, verbose=False)
x = torch.randn(96, 8)
y = (x[:, 0] + x[:, 1] > 0).long()
train, valid = TensorDataset(x[:64], y[:64]), TensorDataset(x[64:], y[64:])


class Model(lightning.LightningModule):
    def __init__(self, hidden=16):
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 2))

    def training_step(self, batch, index):
        loss = torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, index):
        out = self.net(batch[0])
        self.log("val_loss", torch.nn.functional.cross_entropy(out, batch[1]), prog_bar=True)
        self.log("val_acc", (out.argmax(1) == batch[1]).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.02)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)}


with tempfile.TemporaryDirectory() as folder:
    checkpoint = ModelCheckpoint(folder, monitor="val_loss")
    trainer = lightning.Trainer(
        max_epochs=3,
        accelerator="cpu",
        enable_progress_bar=False,
        enable_model_summary=False,
        gradient_clip_val=1.0,
        callbacks=[checkpoint, EarlyStopping("val_loss"), LearningRateMonitor()],
        logger=CSVLogger(folder),
    )
    model = Model()
    trainer.fit(model, DataLoader(train, batch_size=16, shuffle=True), DataLoader(valid, batch_size=32))
    print({k: v.item() for k, v in sorted(trainer.callback_metrics.items())}, trainer.global_step)
    print(trainer.validate(model, DataLoader(valid, batch_size=32), verbose=False))
    loaded = Model.load_from_checkpoint(checkpoint.best_model_path)
    print(loaded.hparams.hidden, loaded.net[0].weight.sum().item())

fabric = Fabric(accelerator="cpu", devices=1)
fabric.launch()
fabric.seed_everything(1, verbose=False)
net = torch.nn.Linear(8, 2)
net, optimizer = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=0.1))
loader = fabric.setup_dataloaders(DataLoader(train, batch_size=16))
for inputs, targets in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(inputs), targets)
    fabric.backward(loss)
    fabric.clip_gradients(net, optimizer, max_norm=1.0)
    optimizer.step()
print(loss.item(), fabric.world_size)
