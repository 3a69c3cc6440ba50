"""ignite: a trainer, an evaluator and their handlers."""

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import EarlyStopping, LRScheduler
from ignite.metrics import Accuracy, Loss, RunningAverage
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(128, 10)
data = TensorDataset(x, (x[:, 0] * x[:, 1] > 0).long())
model = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
criterion = torch.nn.CrossEntropyLoss()
trainer = create_supervised_trainer(model, optimizer, criterion)
evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "loss": Loss(criterion)})
RunningAverage(output_transform=lambda loss: loss).attach(trainer, "running")
trainer.add_event_handler(Events.EPOCH_COMPLETED, LRScheduler(torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)))
evaluator.add_event_handler(Events.COMPLETED, EarlyStopping(10, lambda engine: -engine.state.metrics["loss"], trainer))


@trainer.on(Events.EPOCH_COMPLETED)
def report(engine):
    evaluator.run(DataLoader(data, batch_size=64))
    print(engine.state.epoch, engine.state.metrics["running"], evaluator.state.metrics)


trainer.run(DataLoader(data, batch_size=16, shuffle=True), max_epochs=4)
