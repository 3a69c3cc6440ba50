"""transformers: the Trainer with optimizers, precision, resuming, generation; schedules."""

import os
import tempfile
import warnings

import torch

warnings.simplefilter("ignore")
import transformers
from transformers import *

transformers.logging.set_verbosity_error()
from torch.utils.data import Dataset


class D(Dataset):
    def __init__(s, n, seed):
        g = torch.Generator().manual_seed(seed)
        s.x = torch.randint(3, 40, (n, 8), generator=g)

    def __len__(s):
        return len(s.x)

    def __getitem__(s, i):
        return {"input_ids": s.x[i], "labels": s.x[i]}


class P(TrainerCallback):
    def on_log(s, a, st, c, logs=None, **k):
        print(
            st.global_step,
            {n: round(v, 4) for n, v in (logs or {}).items() if "loss" in n or n in ("grad_norm", "learning_rate")},
        )


for kw in (
    dict(optim="adamw_torch", lr_scheduler_type="cosine", warmup_steps=2),
    dict(optim="sgd", gradient_accumulation_steps=2, max_grad_norm=0.5),
    dict(optim="adafactor", gradient_checkpointing=True),
    dict(optim="adamw_torch", label_smoothing_factor=0.1, weight_decay=0.1, lr_scheduler_type="polynomial"),
    dict(bf16=True, neftune_noise_alpha=5.0),
):
    set_seed(1)
    d = tempfile.mkdtemp()
    m = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=40,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=24,
            num_key_value_heads=1,
        )
    )
    try:
        t = Trainer(
            m,
            TrainingArguments(
                d,
                per_device_train_batch_size=4,
                num_train_epochs=1,
                logging_steps=2,
                report_to=[],
                save_strategy="no",
                use_cpu=True,
                eval_strategy="epoch",
                disable_tqdm=True,
                learning_rate=0.005,
                seed=3,
                **kw,
            ),
            train_dataset=D(24, 0),
            eval_dataset=D(8, 1),
            callbacks=[P()],
            compute_metrics=lambda p: {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())},
        )
        t.remove_callback(PrinterCallback)
        r = t.train()
        print(list(kw), round(r.training_loss, 4), round(t.evaluate()["eval_acc"], 3))
    except Exception as e:
        print(list(kw), "raises", type(e).__name__, str(e)[:90])
set_seed(2)
d = tempfile.mkdtemp()
mk = lambda: GPT2LMHeadModel(
    GPT2Config(
        vocab_size=40, n_embd=16, n_layer=1, n_head=2, n_positions=16, resid_pdrop=0.0, attn_pdrop=0.0, embd_pdrop=0.0
    )
)
a = TrainingArguments(
    d,
    per_device_train_batch_size=4,
    max_steps=6,
    save_steps=3,
    logging_steps=3,
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
    load_best_model_at_end=False,
)
t = Trainer(mk(), a, train_dataset=D(24, 0))
t.remove_callback(PrinterCallback)
t.train()
w = t.model.transformer.wte.weight.sum().item()
print(w, sorted(os.listdir(d)))
t = Trainer(mk(), a, train_dataset=D(24, 0))
t.remove_callback(PrinterCallback)
t.train(resume_from_checkpoint=d + "/checkpoint-3")
print(t.model.transformer.wte.weight.sum().item(), abs(t.model.transformer.wte.weight.sum().item() - w) < 0.001)
m = GPT2LMHeadModel.from_pretrained(d + "/checkpoint-6")
print(m.transformer.wte.weight.sum().item())


class W(Trainer):
    def compute_loss(s, model, inputs, return_outputs=False, **k):
        o = model(**inputs)
        l = o.loss * 2
        return (l, o) if return_outputs else l


set_seed(4)
t = W(
    mk(),
    TrainingArguments(d, max_steps=3, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no"),
    train_dataset=D(24, 0),
    data_collator=default_data_collator,
)
t.remove_callback(PrinterCallback)
print(round(t.train().training_loss, 4))
print(t.predict(D(4, 2)).predictions.shape)
set_seed(5)
s = Seq2SeqTrainer(
    T5ForConditionalGeneration(
        T5Config(vocab_size=40, d_model=16, d_kv=8, d_ff=24, num_layers=1, num_heads=2, decoder_start_token_id=0)
    ),
    Seq2SeqTrainingArguments(
        d,
        max_steps=3,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        save_strategy="no",
        predict_with_generate=True,
        generation_max_length=5,
    ),
    train_dataset=D(24, 0),
    eval_dataset=D(4, 1),
)
s.remove_callback(PrinterCallback)
print(round(s.train().training_loss, 4))
print(s.predict(D(2, 1)).predictions.shape)
from transformers import get_scheduler

p = [torch.nn.Parameter(torch.zeros(1))]
for n in ("linear", "cosine", "cosine_with_restarts", "polynomial", "constant_with_warmup", "inverse_sqrt"):
    o = torch.optim.SGD(p, 1.0)
    sc = get_scheduler(n, o, 2, 8)
    out = []
    for i in range(6):
        o.step()
        sc.step()
        out.append(round(o.param_groups[0]["lr"], 4))
    print(n, out)
