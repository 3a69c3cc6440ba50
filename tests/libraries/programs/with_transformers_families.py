"""transformers: small models of two dozen families, loss, gradients and greedy continuations."""

import inspect

import torch
import transformers

SIZES = dict(
    vocab_size=60, hidden_size=32, d_model=32, n_embd=32, num_hidden_layers=2, num_layers=2, n_layer=2, num_attention_heads=4,
    n_head=4, num_heads=4, num_key_value_heads=2, intermediate_size=48, d_ff=48, d_kv=8, head_dim=8, encoder_layers=2, decoder_layers=2,
    encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64,
    n_positions=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, num_local_experts=4, num_experts=4,
    num_experts_per_tok=2, moe_intermediate_size=24, state_size=8, rotary_dim=4, embedding_size=32, sliding_window=8, ffn_dim=48,
    word_embed_proj_dim=32, dropout=0.0, attention_dropout=0.0,
)  # fmt: skip
FAMILIES = (
    "GPT2LMHead", "Llama", "Mistral", "Mixtral", "Qwen2", "Qwen3", "Gemma", "Gemma2", "Phi", "GPTNeoX", "GPTJ", "OPT", "Bloom",
    "Falcon", "Mamba", "Olmo2", "StableLm", "Cohere", "T5", "Bart", "Pegasus", "Bert", "Roberta", "Electra", "Albert", "DistilBert",
)  # fmt: skip


def made(family):
    stem = family.removesuffix("LMHead")
    kind = getattr(transformers, f"{stem}Config")
    known = {
        name
        for each in kind.__mro__
        for name in (*getattr(each, "__annotations__", {}), *inspect.signature(each.__init__).parameters)
    }
    config = kind(**{name: value for name, value in SIZES.items() if name in known})
    config.decoder_start_token_id = 1
    endings = (
        ("LMHeadModel",) if family.endswith("LMHead") else ("ForCausalLM", "ForConditionalGeneration", "ForMaskedLM")
    )
    if stem in ("Bert", "Roberta", "Electra", "Albert", "DistilBert"):
        endings = ("ForMaskedLM",)
    if stem in ("Bart", "Pegasus"):
        endings = ("ForConditionalGeneration",)
    return next(getattr(transformers, stem + ending) for ending in endings if hasattr(transformers, stem + ending))(
        config
    )


for family in FAMILIES:
    torch.manual_seed(0)
    model = made(family).eval()
    ids = torch.randint(3, 60, (2, 9))
    mask = torch.ones_like(ids)
    mask[1, :2] = 0
    out = model(input_ids=ids, attention_mask=mask, labels=ids)
    out.loss.backward()
    norm = torch.stack([p.grad.norm() for p in model.parameters() if p.grad is not None]).norm()
    told = [f"{out.loss.item():.5f}", f"{norm.item():.4f}", f"{out.logits.abs().mean().item():.5f}"]
    if model.can_generate() and "MaskedLM" not in type(model).__name__:
        told.append(
            model.generate(ids, attention_mask=mask, max_new_tokens=5, min_new_tokens=5, do_sample=False)[
                0, -5:
            ].tolist()
        )
    print(family, *told)
