"""transformers: its Trainer, with evaluation and a checkpoint."""

import tempfile

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PrinterCallback,
    Trainer,
    TrainingArguments,
    set_seed,
)

set_seed(0)
data = [{"input_ids": torch.randint(3, 60, (12,)), "labels": i % 2} for i in range(32)]
model = BertForSequenceClassification(
    BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        num_train_epochs=2,
        per_device_train_batch_size=8,
        learning_rate=1e-3,
        logging_steps=2,
        save_steps=4,
        report_to=[],
        use_cpu=True,
        seed=0,
        disable_tqdm=True,
        lr_scheduler_type="cosine",
        warmup_steps=2,
    )
    trainer = Trainer(
        model,
        arguments,
        train_dataset=data,
        eval_dataset=data[:8],
        compute_metrics=lambda found: {"accuracy": float((found.predictions.argmax(-1) == found.label_ids).mean())},
    )
    trainer.remove_callback(PrinterCallback)  # it prints how long everything took
    result = trainer.train()
    print(result.global_step, result.training_loss)
    print([row["loss"] for row in trainer.state.log_history if "loss" in row])
    print({k: v for k, v in trainer.evaluate().items() if k in ("eval_loss", "eval_accuracy")})
    again = BertForSequenceClassification.from_pretrained(f"{folder}/checkpoint-8")
    print(sum(p.double().sum().item() for p in again.parameters()))
