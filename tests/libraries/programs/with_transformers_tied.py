"""transformers: heads whose weight is that of the embedding; its gradient comes by both ways, with penalties by a third."""

import torch
from transformers import BertConfig, BertForMaskedLM, BertForPreTraining, T5Config, T5ForConditionalGeneration, set_seed

set_seed(0)
ids = torch.randint(3, 50, (2, 6))
mask = torch.ones_like(ids)
mask[1, 4:] = 0
config = BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
for kind, more in (
    (BertForMaskedLM, {}),
    (BertForPreTraining, dict(next_sentence_label=torch.tensor([0, 1]))),
):
    set_seed(4)
    model = kind(config)
    weight = model.get_input_embeddings().weight
    print(kind.__name__, model.get_output_embeddings().weight is weight)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(4):
        loss = model(ids, attention_mask=mask, labels=ids, **more).loss + 1e-2 * weight.square().sum()
        optimizer.zero_grad()
        loss.backward()
        print(loss.item(), weight.grad.norm().item(), weight.grad[ids].norm().item())
        optimizer.step()
set_seed(5)
model = T5ForConditionalGeneration(
    T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0)
)
for seen in (mask, None):
    model.zero_grad()
    model(ids, attention_mask=seen, labels=ids).loss.backward()
    print(model.shared.weight.grad.norm().item(), model.lm_head.weight is model.shared.weight)
