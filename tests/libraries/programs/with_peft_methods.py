"""peft: two dozen methods, each trained, saved, loaded and merged."""

import tempfile
import warnings

import torch

warnings.simplefilter("ignore")
from peft import *
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
)

torch.manual_seed(0)
ids = torch.randint(3, 40, (2, 7))
mk = lambda: LlamaForCausalLM(
    LlamaConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        num_key_value_heads=1,
    )
)
for n, c in dict(
    lora=LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
    rs=LoraConfig(r=4, use_rslora=True, lora_dropout=0.1, target_modules="all-linear", task_type="CAUSAL_LM"),
    dora=LoraConfig(r=2, use_dora=True, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    pissa=LoraConfig(r=2, init_lora_weights="pissa", target_modules=["q_proj"], task_type="CAUSAL_LM"),
    ortho=LoraConfig(r=2, init_lora_weights="orthogonal", target_modules=["q_proj"], task_type="CAUSAL_LM"),
    save=LoraConfig(
        r=2, target_modules=["q_proj"], modules_to_save=["lm_head"], bias="lora_only", task_type="CAUSAL_LM"
    ),
    patt=LoraConfig(
        r=2,
        rank_pattern={"q_proj": 4},
        alpha_pattern={"q_proj": 16},
        layers_to_transform=[1],
        target_modules=["q_proj", "k_proj"],
        task_type="CAUSAL_LM",
    ),
    emb=LoraConfig(r=2, target_modules=["embed_tokens"], task_type="CAUSAL_LM"),
    ia3=IA3Config(
        target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"], task_type="CAUSAL_LM"
    ),
    loha=LoHaConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    lokr=LoKrConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    oft=OFTConfig(r=0, oft_block_size=4, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    boft=BOFTConfig(boft_block_size=4, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    vera=VeraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    ada=AdaLoraConfig(
        init_r=4, target_r=2, total_step=10, tinit=1, tfinal=2, target_modules=["q_proj"], task_type="CAUSAL_LM"
    ),
    prompt=PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
    prefix=PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
    ptun=PromptEncoderConfig(task_type="CAUSAL_LM", num_virtual_tokens=3, encoder_hidden_size=8),
    ln=LNTuningConfig(task_type="CAUSAL_LM", target_modules=["input_layernorm"]),
    fourier=FourierFTConfig(n_frequency=10, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    hra=HRAConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    vb=VBLoRAConfig(num_vectors=8, vector_length=8, topk=2, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    bone=MissConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM") if "MissConfig" in globals() else None,
    shira=ShiraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM") if "ShiraConfig" in globals() else None,
).items():
    if c is None:
        continue
    torch.manual_seed(1)
    try:
        m = get_peft_model(mk(), c)
        o = torch.optim.AdamW([p for p in m.parameters() if p.requires_grad], 0.01)
        for i in range(3):
            l = m(input_ids=ids, labels=ids).loss
            o.zero_grad()
            l.backward()
            o.step()
        m.eval()
        d = tempfile.mkdtemp()
        m.save_pretrained(d)
        torch.manual_seed(1)
        m2 = PeftModel.from_pretrained(mk(), d).eval()
        e = (m2(input_ids=ids).logits - m(input_ids=ids).logits).abs().max().item() < 0.001
        g = m.merge_and_unload()(input_ids=ids).logits.sum().item() if n not in ("prompt", "prefix", "ptun") else 0
        print(
            n,
            l.item(),
            m.get_nb_trainable_parameters() if hasattr(m, "get_nb_trainable_parameters") else "",
            e,
            round(g, 2),
        )
    except Exception as ex:
        print(n, "raises", type(ex).__name__, str(ex)[:80])
m = get_peft_model(mk(), LoraConfig(r=2, target_modules=["q_proj"]), adapter_name="a")
m.add_adapter("b", LoraConfig(r=2, target_modules=["q_proj"]))
m.set_adapter("b")
print(m.active_adapter, sum(p.requires_grad for p in m.parameters()))
m.add_weighted_adapter(["a", "b"], [0.5, 0.5], "c", combination_type="linear")
print(sorted(m.peft_config))
with m.disable_adapter():
    print(m(input_ids=ids).logits.shape)
print(len(get_peft_model_state_dict(m, adapter_name="a")))
m.base_model.merge_adapter()
m.base_model.unmerge_adapter()
s = get_peft_model(
    BertForSequenceClassification(
        BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24)
    ),
    LoraConfig(task_type="SEQ_CLS", r=2),
)
l = s(input_ids=ids, labels=torch.tensor([0, 1])).loss
l.backward()
print([n for n, p in s.named_parameters() if p.grad is not None][:3])
