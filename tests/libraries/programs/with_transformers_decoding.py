"""transformers: caches, processors of logits, constrained and assisted decoding, saving."""

import warnings

import torch

warnings.simplefilter("ignore")
from transformers import *
from transformers.generation import *

torch.manual_seed(0)
c = LlamaConfig(
    vocab_size=50,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    num_key_value_heads=2,
)
m = LlamaForCausalLM(c).eval()
ids = torch.randint(3, 50, (2, 6))
with torch.no_grad():
    o = m(ids, use_cache=True, output_hidden_states=True, output_attentions=True)
    print(o.logits.sum().item(), len(o.hidden_states), o.attentions is not None)
    o2 = m(ids[:, :1] * 0 + 5, past_key_values=o.past_key_values)
    f = m(torch.cat([ids, ids[:, :1] * 0 + 5], 1))
    print((o2.logits[:, -1] - f.logits[:, -1]).abs().max().item() < 0.0001, o2.past_key_values.get_seq_length())
r = m.generate(
    ids,
    max_new_tokens=5,
    do_sample=False,
    return_dict_in_generate=True,
    output_scores=True,
    output_logits=True,
    pad_token_id=0,
)
print(r.sequences.tolist(), len(r.scores), r.scores[0].sum().item())
print(m.compute_transition_scores(r.sequences, r.scores, normalize_logits=True).sum().item())
print(m.generate(ids, max_new_tokens=5, cache_implementation="static", do_sample=False, pad_token_id=0).tolist())


class NoEven(LogitsProcessor):
    def __call__(s, i, sc):
        sc = sc.clone()
        sc[:, ::2] = -float("inf")
        return sc


class Stop(StoppingCriteria):
    def __call__(s, i, sc, **k):
        return torch.tensor([i.shape[1] >= 9] * i.shape[0])


print(
    m.generate(
        ids,
        max_new_tokens=9,
        logits_processor=LogitsProcessorList([NoEven()]),
        stopping_criteria=StoppingCriteriaList([Stop()]),
        do_sample=False,
        pad_token_id=0,
    ).tolist()
)
for k in (
    dict(penalty_alpha=0.6, top_k=4),
    dict(num_beams=4, num_beam_groups=2, diversity_penalty=0.5),
    dict(prompt_lookup_num_tokens=2),
    dict(do_sample=True, typical_p=0.8),
    dict(do_sample=True, epsilon_cutoff=0.01),
    dict(do_sample=True, eta_cutoff=0.01),
    dict(bad_words_ids=[[5], [7, 8]]),
    dict(forced_eos_token_id=2),
    dict(sequence_bias={(9,): 5.0}),
    dict(guidance_scale=1.5),
    dict(num_beams=2, force_words_ids=[[11]]),
    dict(encoder_repetition_penalty=1.2),
    dict(exponential_decay_length_penalty=(2, 1.1)),
    dict(renormalize_logits=True, num_beams=2),
    dict(suppress_tokens=[3, 4]),
):
    torch.manual_seed(3)
    try:
        print(next(iter(k)), m.generate(ids, max_new_tokens=5, pad_token_id=0, eos_token_id=2, **k).tolist())
    except Exception as e:
        print(next(iter(k)), "raises", type(e).__name__, str(e)[:70])
a = LlamaForCausalLM(
    LlamaConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24)
).eval()
print("assist", m.generate(ids[:1], assistant_model=a, max_new_tokens=6, do_sample=False, pad_token_id=0).tolist())
for impl in ("eager", "sdpa"):
    m.set_attn_implementation(impl) if hasattr(m, "set_attn_implementation") else None
    print(impl, m(ids).logits.sum().item())
m.resize_token_embeddings(55)
print(m.get_input_embeddings().weight.shape, m.num_parameters())
m.gradient_checkpointing_enable()
m.train()
l = m(ids, labels=ids).loss
l.backward()
print(l.item(), m.model.embed_tokens.weight.grad.norm().item())
import tempfile

d = tempfile.mkdtemp()
m.save_pretrained(d)
n = AutoModelForCausalLM.from_pretrained(d)
print((n(ids).logits - m.eval()(ids).logits).abs().max().item() < 1e-05)
n = AutoModelForCausalLM.from_pretrained(d, torch_dtype=torch.bfloat16)
print(n.dtype, round(n(ids).logits.float().sum().item(), 0) == round(n(ids).logits.float().sum().item(), 0))
h = []
hk = m.model.layers[0].register_forward_hook(
    lambda mod, i, o: h.append(tuple((o[0] if isinstance(o, tuple) else o).shape))
)
m(ids)
hk.remove()
print(h)
m.half()
print(m.dtype)
m.float()
print(
    AutoModel.from_config(c).__class__.__name__,
    AutoModelForSequenceClassification.from_config(
        BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24)
    ).num_labels,
)
