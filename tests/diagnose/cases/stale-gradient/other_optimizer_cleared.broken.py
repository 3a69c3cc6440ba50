"""an autoencoder with two optimizers clears the encoder's twice and the decoder's never (a copied line)."""
import torch
from torch import nn

torch.manual_seed(11)

encoder = nn.Sequential(nn.Linear(20, 12), nn.Tanh(), nn.Linear(12, 3))
decoder = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 20))
enc_opt = torch.optim.Adam(encoder.parameters(), lr=3e-3)
dec_opt = torch.optim.SGD(decoder.parameters(), lr=0.05)
basis = torch.randn(3, 20)
data = torch.randn(160, 3) @ basis / 2


def train_batch(batch):
    enc_opt.zero_grad()
    enc_opt.zero_grad()
    rebuilt = decoder(encoder(batch))
    loss = nn.functional.mse_loss(rebuilt, batch)
    loss.backward()  # ALSO: stale-gradient
    enc_opt.step()
    dec_opt.step()  # EXPECT: stale-gradient
    return loss.item()


history = []
for epoch in range(5):
    for rows in torch.randperm(160).split(20):
        history.append(train_batch(data[rows]))
print(f"first {history[0]:.4f} last {history[-1]:.4f}")
