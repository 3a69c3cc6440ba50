"""copy and paste: the encoder's optimizer steps twice, the decoder's never"""
import torch
from torch import nn

torch.manual_seed(317)
enc, dec = nn.Linear(7, 3), nn.Linear(3, 7)
enc_opt, dec_opt = torch.optim.Adam(enc.parameters(), 2e-3), torch.optim.Adam(dec.parameters(), 2e-3)
for step in range(60):
    x = torch.randn(32, 7)
    loss = (dec(torch.tanh(enc(x))) - x).square().mean()
    enc_opt.zero_grad()
    dec_opt.zero_grad()  # EXPECT: gradient-discarded
    loss.backward()
    enc_opt.step()
    enc_opt.step()
print(loss.item())
