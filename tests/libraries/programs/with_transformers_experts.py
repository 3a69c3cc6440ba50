"""transformers: mixtures of experts, whose routers begin with equal scores: which expert is chosen is the order of equals."""

import warnings

import torch
from transformers import AfmoeConfig, AfmoeForCausalLM, MixtralConfig, MixtralForCausalLM
from transformers.utils import logging

warnings.simplefilter("ignore")
logging.set_verbosity_error()
SIZES = {
    "vocab_size": 60, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


def trained(model):
    """A few steps, and what it then says."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    ids = torch.randint(3, 60, (2, 12))
    for _ in range(4):
        loss = model(input_ids=ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.5f}")
    model.eval()
    print(model.generate(ids[:, :4], max_new_tokens=6, do_sample=False).tolist())


torch.manual_seed(0)
trained(
    AfmoeForCausalLM(
        AfmoeConfig(**SIZES, moe_intermediate_size=24, num_experts=4, num_experts_per_tok=2, num_dense_layers=1)
    )
)
torch.manual_seed(1)
mixtral = MixtralForCausalLM(MixtralConfig(**SIZES, num_local_experts=6, num_experts_per_tok=3))
for name, parameter in mixtral.named_parameters():
    if "gate.weight" in name:  # routers that know nothing yet
        torch.nn.init.zeros_(parameter)
trained(mixtral)
scores = torch.zeros(5, 20)
print(
    scores.topk(4).indices.tolist(),
    scores.topk(4, sorted=False).indices.tolist(),
    scores.argsort(descending=True)[0].tolist(),
)
