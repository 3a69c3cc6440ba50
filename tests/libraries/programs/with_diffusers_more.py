"""diffusers: training, ten samplers, conditioning, an autoencoder, a pipeline."""

import torch
from diffusers import (
    AutoencoderKL,
    DDIMScheduler,
    DDPMPipeline,
    DDPMScheduler,
    DPMSolverMultistepScheduler,
    EulerAncestralDiscreteScheduler,
    EulerDiscreteScheduler,
    FlowMatchEulerDiscreteScheduler,
    HeunDiscreteScheduler,
    KDPM2DiscreteScheduler,
    PNDMScheduler,
    UNet2DConditionModel,
    UNet2DModel,
    UniPCMultistepScheduler,
)
from diffusers.optimization import get_cosine_schedule_with_warmup
from diffusers.training_utils import EMAModel

torch.manual_seed(0)
u = UNet2DModel(
    sample_size=16,
    in_channels=3,
    out_channels=3,
    layers_per_block=1,
    block_out_channels=(16, 32),
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    norm_num_groups=8,
    attention_head_dim=8,
)
o = torch.optim.AdamW(u.parameters(), lr=1e-3)
sch = DDPMScheduler(num_train_timesteps=50, beta_schedule="squaredcos_cap_v2")
lr = get_cosine_schedule_with_warmup(o, 1, 4)
ema = EMAModel(u.parameters(), decay=0.9)
x = torch.randn(2, 3, 16, 16)
for i in range(3):
    n = torch.randn_like(x)
    t = torch.randint(0, 50, (2,))
    l = torch.nn.functional.mse_loss(u(sch.add_noise(x, n, t), t).sample, n)
    l.backward()
    torch.nn.utils.clip_grad_norm_(u.parameters(), 1.0)
    o.step()
    lr.step()
    o.zero_grad()
    ema.step(u.parameters())
    print(l.item())
u.eval()
for S in (
    DDPMScheduler,
    DDIMScheduler,
    PNDMScheduler,
    EulerDiscreteScheduler,
    EulerAncestralDiscreteScheduler,
    DPMSolverMultistepScheduler,
    HeunDiscreteScheduler,
    UniPCMultistepScheduler,
    KDPM2DiscreteScheduler,
    FlowMatchEulerDiscreteScheduler,
):
    s = S(num_train_timesteps=50)
    s.set_timesteps(4)
    torch.manual_seed(1)
    z = torch.randn(1, 3, 16, 16) * getattr(s, "init_noise_sigma", 1.0)
    with torch.no_grad():
        for t in s.timesteps:
            inp = s.scale_model_input(z, t) if hasattr(s, "scale_model_input") else z
            z = s.step(u(inp, t).sample, t, z).prev_sample
    print(S.__name__, z.norm().item())
c = UNet2DConditionModel(
    sample_size=8,
    in_channels=4,
    out_channels=4,
    layers_per_block=1,
    block_out_channels=(16, 32),
    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    cross_attention_dim=12,
    norm_num_groups=8,
    attention_head_dim=4,
)
out = c(torch.randn(1, 4, 8, 8), 3, encoder_hidden_states=torch.randn(1, 5, 12)).sample
out.pow(2).mean().backward()
print(out.norm().item(), sum(p.grad.norm().item() for p in c.parameters() if p.grad is not None))
v = AutoencoderKL(
    in_channels=3,
    out_channels=3,
    down_block_types=("DownEncoderBlock2D",) * 2,
    up_block_types=("UpDecoderBlock2D",) * 2,
    block_out_channels=(8, 16),
    latent_channels=4,
    norm_num_groups=4,
)
d = v.encode(x).latent_dist
torch.manual_seed(2)
z = d.sample()
r = v.decode(z).sample
l = torch.nn.functional.mse_loss(r, x) + 1e-3 * d.kl().mean()
l.backward()
print(l.item(), z.shape)
p = DDPMPipeline(unet=u, scheduler=DDPMScheduler(num_train_timesteps=20))
p.set_progress_bar_config(disable=True)
im = p(batch_size=1, num_inference_steps=3, generator=torch.Generator().manual_seed(0), output_type="np").images
print(im.shape, float(im.sum()))
