"""x-transformers: rotary and relative positions, grouped heads, encoders and decoders, images."""

import torch
from x_transformers import (
    AutoregressiveWrapper,
    ContinuousTransformerWrapper,
    Decoder,
    Encoder,
    TransformerWrapper,
    ViTransformerWrapper,
    XTransformer,
)

torch.manual_seed(0)
m = TransformerWrapper(
    num_tokens=32,
    max_seq_len=32,
    attn_layers=Decoder(
        dim=32, depth=2, heads=4, rotary_pos_emb=True, attn_flash=False, ff_glu=True, use_rmsnorm=True, attn_kv_heads=2
    ),
)
m = AutoregressiveWrapper(m)
o = torch.optim.AdamW(m.parameters(), lr=3e-3)
x = torch.randint(0, 32, (4, 24))
for _ in range(5):
    l = m(x)
    l.backward()
    torch.nn.utils.clip_grad_norm_(m.parameters(), 0.5)
    o.step()
    o.zero_grad()
    print(l.item())
m.eval()
torch.manual_seed(1)
print(m.generate(x[:1, :4], 8, temperature=0.7).tolist())
e = TransformerWrapper(
    num_tokens=32,
    max_seq_len=32,
    attn_layers=Encoder(dim=32, depth=2, heads=4, alibi_pos_bias=True, attn_flash=True, attn_qk_norm=True),
)
mask = torch.ones(4, 24).bool()
mask[:, 20:] = False
print(e(x, mask=mask).norm().item())
xt = XTransformer(
    dim=32,
    enc_num_tokens=32,
    enc_depth=1,
    enc_heads=4,
    enc_max_seq_len=32,
    dec_num_tokens=32,
    dec_depth=1,
    dec_heads=4,
    dec_max_seq_len=32,
    tie_token_emb=True,
)
l = xt(x, x, mask=mask)
l.backward()
print(l.item(), sum(p.grad.norm().item() for p in xt.parameters() if p.grad is not None))
c = ContinuousTransformerWrapper(
    dim_in=8, dim_out=4, max_seq_len=32, attn_layers=Encoder(dim=32, depth=1, heads=2, rel_pos_bias=True)
)
print(c(torch.randn(2, 24, 8)).norm().item())
v = ViTransformerWrapper(
    image_size=16, patch_size=4, num_classes=5, attn_layers=Encoder(dim=32, depth=1, heads=2, macaron=True)
)
print(v(torch.randn(2, 3, 16, 16)).norm().item())
