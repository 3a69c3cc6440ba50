"""peft: LoRA on a small GPT-2, trained, merged, saved and loaded."""

import tempfile

import torch
from peft import LoraConfig, PeftModel, TaskType, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2, bos_token_id=1, eos_token_id=2)
base = GPT2LMHeadModel(config)
model = get_peft_model(
    base, LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, lora_alpha=8, lora_dropout=0.05, target_modules=["c_attn"])
)
print(model.get_nb_trainable_parameters())
tokens = torch.randint(3, 60, (4, 16))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for _ in range(5):
    optimizer.zero_grad()
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    print(loss.item())
model.eval()
before = model(input_ids=tokens).logits
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    torch.manual_seed(0)
    loaded = PeftModel.from_pretrained(GPT2LMHeadModel(config), folder).eval()
    print((loaded(input_ids=tokens).logits - before).abs().max().item() < 1e-5)
merged = model.merge_and_unload()
print((merged(input_ids=tokens).logits - before).abs().max().item() < 1e-4, before.std().item())
