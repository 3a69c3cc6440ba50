"""denoising-diffusion-pytorch: diffusion of images and of sequences, trained and sampled from."""

import torch
from denoising_diffusion_pytorch import GaussianDiffusion, GaussianDiffusion1D, Unet, Unet1D

torch.manual_seed(0)
unet = Unet(dim=16, dim_mults=(1, 2), flash_attn=False, attn_dim_head=8, attn_heads=2)
images = GaussianDiffusion(
    unet, image_size=16, timesteps=20, sampling_timesteps=4, objective="pred_v", min_snr_loss_weight=True
)
sequences = GaussianDiffusion1D(Unet1D(dim=16, dim_mults=(1, 2), channels=4), seq_length=16, timesteps=12)
for diffusion, data in ((images, torch.rand(4, 3, 16, 16)), (sequences, torch.rand(4, 4, 16))):
    optimizer = torch.optim.Adam(diffusion.parameters(), lr=1e-3, betas=(0.9, 0.99))
    for _ in range(3):
        optimizer.zero_grad()
        loss = diffusion(data)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(diffusion.parameters(), 1.0)
        optimizer.step()
        print(loss.item(), norm.item())
    sample = diffusion.sample(batch_size=2)
    print(sample.shape, sample.mean().item())
