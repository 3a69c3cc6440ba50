"""x-transformers: a language model with rotary embeddings, trained and then sampled from."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper

torch.manual_seed(0)
model = AutoregressiveWrapper(
    TransformerWrapper(
        num_tokens=32, max_seq_len=24, attn_layers=Decoder(dim=32, depth=2, heads=4, rotary_pos_emb=True, ff_glu=True)
    )
)
tokens = torch.randint(0, 32, (8, 24))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(8):
    optimizer.zero_grad()
    loss = model(tokens)
    loss.backward()
    optimizer.step()
    print(loss.item())
print(model.generate(tokens[:2, :4], 8, temperature=0.0).tolist())
encoder = TransformerWrapper(num_tokens=32, max_seq_len=24, attn_layers=Encoder(dim=32, depth=1, heads=4))
print(encoder(tokens, mask=torch.ones_like(tokens).bool()).std().item())
