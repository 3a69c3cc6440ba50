"""peft: ten ways to adapt a model, saving, merging, several adapters."""

import tempfile

import torch
from peft import (
    AdaLoraConfig,
    IA3Config,
    LoHaConfig,
    LoKrConfig,
    LoraConfig,
    PeftModel,
    PrefixTuningConfig,
    PromptTuningConfig,
    TaskType,
    get_peft_model,
    inject_adapter_in_model,
)
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

torch.manual_seed(0)
ids = torch.randint(3, 60, (2, 10))


def llama():
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=64,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        )
    )


def tr(m, n=3, **b):
    o = torch.optim.AdamW([p for p in m.parameters() if p.requires_grad], lr=5e-3)
    m.train()
    for _ in range(n):
        l = m(**b).loss
        l.backward()
        o.step()
        o.zero_grad()
        print(l.item())
    return m.eval()


for cfg in (
    LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, lora_alpha=8, lora_dropout=0.1, target_modules=["q_proj", "v_proj"]),
    LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, use_rslora=True, target_modules="all-linear", bias="lora_only"),
    LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, use_dora=True, target_modules=["q_proj"]),
    IA3Config(
        task_type=TaskType.CAUSAL_LM,
        target_modules=["k_proj", "v_proj", "down_proj"],
        feedforward_modules=["down_proj"],
    ),
    LoHaConfig(task_type=TaskType.CAUSAL_LM, r=4, target_modules=["q_proj"]),
    LoKrConfig(task_type=TaskType.CAUSAL_LM, r=4, target_modules=["q_proj"]),
    PromptTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=4),
    PrefixTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=4),
    AdaLoraConfig(
        task_type=TaskType.CAUSAL_LM, init_r=4, target_r=2, total_step=10, tinit=1, tfinal=5, target_modules=["q_proj"]
    ),
    LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, init_lora_weights="pissa", target_modules=["q_proj"]),
):
    m = get_peft_model(llama(), cfg)
    print(type(cfg).__name__, m.get_nb_trainable_parameters())
    tr(m, input_ids=ids, labels=ids, attention_mask=torch.ones_like(ids))
    print(m(ids).logits.norm().item())
m = get_peft_model(llama(), LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, target_modules=["q_proj", "v_proj"]))
tr(m, input_ids=ids, labels=ids)
d = tempfile.mkdtemp()
m.save_pretrained(d)
x = m(ids).logits
p = PeftModel.from_pretrained(llama(), d).eval()
print((p(ids).logits - x).abs().max().item() < 1e-5)
mm = p.merge_and_unload()
print((mm(ids).logits - x).abs().max().item() < 1e-4, type(mm).__name__)
m.add_adapter("b", LoraConfig(task_type=TaskType.CAUSAL_LM, r=2, target_modules=["q_proj"]))
m.set_adapter("b")
print(m.active_adapter)
with m.disable_adapter():
    print(m(ids).logits.norm().item())
t = get_peft_model(
    T5ForConditionalGeneration(
        T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=1, num_heads=4, decoder_start_token_id=0)
    ),
    LoraConfig(task_type=TaskType.SEQ_2_SEQ_LM, r=4, target_modules=["q", "v"]),
)
tr(t, input_ids=ids, labels=ids)
b = get_peft_model(
    BertForSequenceClassification(
        BertConfig(
            vocab_size=64,
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=4,
            intermediate_size=48,
            num_labels=3,
        )
    ),
    LoraConfig(task_type=TaskType.SEQ_CLS, r=4, target_modules=["query", "value"], modules_to_save=["classifier"]),
)
tr(b, input_ids=ids, labels=torch.tensor([0, 2]))
c = inject_adapter_in_model(
    LoraConfig(r=4, target_modules=["0", "2"]),
    torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)),
)
print(sorted(n for n, _ in c.named_parameters())[:3])
