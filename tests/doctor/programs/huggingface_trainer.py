"""The Hugging Face Trainer around a model that applies softmax before the cross entropy."""

import sys
import tempfile

import torch
from torch import nn
from transformers import PrinterCallback, Trainer, TrainingArguments

BROKEN = "clean" not in sys.argv


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))

    def forward(self, features, labels=None):
        scores = self.net(features)
        if BROKEN:
            scores = torch.softmax(scores, dim=-1)
        loss = nn.functional.cross_entropy(scores, labels)  # EXPECT: softmax-twice
        return {"loss": loss, "logits": scores}


torch.manual_seed(0)
data = [{"features": row, "labels": row[:3].argmax()} for row in torch.randn(64, 6)]
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        num_train_epochs=2,
        per_device_train_batch_size=8,
        report_to=[],
        disable_tqdm=True,
        save_strategy="no",
        logging_strategy="no",
        use_cpu=True,
        dataloader_num_workers=1,
    )
    trainer = Trainer(model=Classifier(), args=arguments, train_dataset=data)
    trainer.remove_callback(PrinterCallback)  # it prints seconds
    trainer.train()
    print("steps", trainer.state.global_step)
