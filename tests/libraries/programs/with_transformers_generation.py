"""transformers: eleven language models, trained and sampled from in six ways."""

import warnings

import torch

warnings.simplefilter("ignore")
import transformers
from transformers import *

transformers.logging.set_verbosity_error()
torch.manual_seed(0)


def small(C, **k):
    return C(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, **k)


ids = torch.randint(3, 60, (2, 9))
am = torch.ones_like(ids)
am[0, :3] = 0


def lm(n, m):
    torch.manual_seed(1)
    m.train()
    o = torch.optim.AdamW(m.parameters(), 0.001)
    for i in range(2):
        l = m(input_ids=ids, attention_mask=am, labels=ids).loss
        o.zero_grad()
        l.backward()
        o.step()
    m.eval()
    print(n, l.item())
    torch.manual_seed(2)
    for k in (
        dict(do_sample=False),
        dict(do_sample=True, top_k=10, temperature=0.8),
        dict(do_sample=True, top_p=0.8, min_p=0.01),
        dict(num_beams=3, num_return_sequences=2),
        dict(num_beams=2, do_sample=True, no_repeat_ngram_size=2),
        dict(repetition_penalty=1.3, do_sample=False, min_new_tokens=4),
    ):
        try:
            print(
                n,
                list(k),
                m.generate(ids, attention_mask=am, max_new_tokens=6, pad_token_id=0, eos_token_id=2, **k).tolist(),
            )
        except Exception as e:
            print(n, list(k), "raises", str(e)[:80])


mk = dict(
    llama=lambda: LlamaForCausalLM(small(LlamaConfig, num_key_value_heads=2)),
    mistral=lambda: MistralForCausalLM(small(MistralConfig, num_key_value_heads=2, sliding_window=4)),
    qwen=lambda: Qwen2ForCausalLM(small(Qwen2Config, num_key_value_heads=2)),
    gpt2=lambda: GPT2LMHeadModel(GPT2Config(vocab_size=60, n_embd=32, n_layer=2, n_head=4)),
    neox=lambda: GPTNeoXForCausalLM(small(GPTNeoXConfig)),
    opt=lambda: OPTForCausalLM(
        OPTConfig(
            vocab_size=60,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            ffn_dim=48,
            word_embed_proj_dim=32,
        )
    ),
    phi=lambda: PhiForCausalLM(small(PhiConfig)),
    gemma=lambda: GemmaForCausalLM(small(GemmaConfig, num_key_value_heads=1, head_dim=8)),
    mixtral=lambda: MixtralForCausalLM(small(MixtralConfig, num_key_value_heads=2, num_local_experts=4)),
    bloom=lambda: BloomForCausalLM(BloomConfig(vocab_size=60, hidden_size=32, n_layer=2, n_head=4)),
    falcon=lambda: FalconForCausalLM(small(FalconConfig)),
)
for n, f in mk.items():
    torch.manual_seed(0)
    try:
        lm(n, f())
    except Exception as e:
        print(n, "raises", type(e).__name__, str(e)[:80])
