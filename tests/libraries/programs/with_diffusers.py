"""diffusers: a small UNet trained to denoise, and two schedulers that sample from it."""

import torch
from diffusers import AutoencoderKL, DDIMScheduler, DDPMPipeline, DDPMScheduler, EulerDiscreteScheduler, UNet2DModel

torch.manual_seed(0)
unet = UNet2DModel(
    sample_size=16,
    in_channels=1,
    out_channels=1,
    layers_per_block=1,
    block_out_channels=(16, 32),
    norm_num_groups=8,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    attention_head_dim=8,
)
scheduler = DDPMScheduler(num_train_timesteps=50)
optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-3)
images = torch.rand(4, 1, 16, 16) * 2 - 1
for _ in range(4):
    noise, steps = torch.randn_like(images), torch.randint(0, 50, (4,))
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(unet(scheduler.add_noise(images, noise, steps), steps).sample, noise)
    loss.backward()
    optimizer.step()
    print(loss.item())
unet.eval()
for sampler in (DDIMScheduler(num_train_timesteps=50), EulerDiscreteScheduler(num_train_timesteps=50)):
    sampler.set_timesteps(3)
    torch.manual_seed(1)
    x = torch.randn(1, 1, 16, 16) * sampler.init_noise_sigma
    for t in sampler.timesteps:
        with torch.no_grad():
            x = sampler.step(unet(sampler.scale_model_input(x, t), t).sample, t, x).prev_sample
    print(type(sampler).__name__, x.mean().item(), x.std().item())
pipeline = DDPMPipeline(unet, scheduler)
pipeline.set_progress_bar_config(disable=True)
print(pipeline(1, num_inference_steps=2, generator=torch.Generator().manual_seed(0), output_type="np").images.mean())
vae = AutoencoderKL(
    1,
    1,
    down_block_types=("DownEncoderBlock2D",),
    up_block_types=("UpDecoderBlock2D",),
    block_out_channels=(16,),
    latent_channels=2,
    norm_num_groups=8,
)
posterior = vae.encode(images).latent_dist
print(posterior.kl().mean().item(), vae.decode(posterior.mode()).sample.std().item())
