"""transformers: GPT-2, BERT, Llama and T5 from a configuration: forward, backward, a few steps, and generation."""

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

torch.manual_seed(0)
tokens = torch.randint(3, 60, (4, 16))


def train(model, steps=4, **batch):
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(type(model).__name__, loss.item())
    return model.eval()


gpt = train(
    GPT2LMHeadModel(
        GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2, bos_token_id=1, eos_token_id=2)
    ),
    input_ids=tokens,
    labels=tokens,
)
print(gpt.generate(tokens[:2, :4], max_new_tokens=6, do_sample=False, pad_token_id=0).tolist())
print(gpt.generate(tokens[:1, :4], max_new_tokens=6, num_beams=3, pad_token_id=0).tolist())
bert = train(
    BertForSequenceClassification(
        BertConfig(
            vocab_size=64,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            num_labels=3,
        )
    ),
    input_ids=tokens,
    attention_mask=torch.ones_like(tokens),
    labels=torch.tensor([0, 1, 2, 0]),
)
llama = train(
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=64,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=32,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        )
    ),
    input_ids=tokens,
    labels=tokens,
)
torch.manual_seed(2)
print(llama.generate(tokens[:2, :4], max_new_tokens=6, do_sample=True, top_k=5, temperature=0.8).tolist())
t5 = train(
    T5ForConditionalGeneration(
        T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0)
    ),
    input_ids=tokens,
    labels=tokens[:, :8].contiguous(),
)
print(t5.generate(tokens[:2], max_new_tokens=5, do_sample=False).tolist())
