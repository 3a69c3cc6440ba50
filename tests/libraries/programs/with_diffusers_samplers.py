"""diffusers: seventeen schedulers, autoencoders, control nets, pipelines, averaging."""

import warnings

import torch

warnings.simplefilter("ignore")
from diffusers import *

torch.manual_seed(0)
u = UNet2DModel(
    sample_size=8,
    in_channels=1,
    out_channels=1,
    layers_per_block=1,
    block_out_channels=(8, 16),
    norm_num_groups=4,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    attention_head_dim=4,
)
o = torch.optim.AdamW(u.parameters(), 0.001)
d = DDPMScheduler(num_train_timesteps=50, beta_schedule="squaredcos_cap_v2")
for i in range(4):
    x = torch.rand(4, 1, 8, 8) * 2 - 1
    n = torch.randn_like(x)
    t = torch.randint(50, (4,))
    l = torch.nn.functional.mse_loss(u(d.add_noise(x, n, t), t).sample, n)
    o.zero_grad()
    l.backward()
    torch.nn.utils.clip_grad_norm_(u.parameters(), 1.0)
    o.step()
    print(l.item())
u.eval()
for S, kw in (
    (DDPMScheduler, {}),
    (DDIMScheduler, dict(eta=0.5)),
    (PNDMScheduler, {}),
    (LMSDiscreteScheduler, {}),
    (EulerDiscreteScheduler, {}),
    (EulerAncestralDiscreteScheduler, {}),
    (DPMSolverMultistepScheduler, {}),
    (DPMSolverSinglestepScheduler, {}),
    (HeunDiscreteScheduler, {}),
    (KDPM2DiscreteScheduler, {}),
    (UniPCMultistepScheduler, {}),
    (DEISMultistepScheduler, {}),
    (LCMScheduler, {}),
    (FlowMatchEulerDiscreteScheduler, {}),
    (EDMEulerScheduler, {}),
    (SASolverScheduler, {}),
    (TCDScheduler, {}),
    (ConsistencyDecoderScheduler if "ConsistencyDecoderScheduler" in globals() else DDIMInverseScheduler, {}),
):
    torch.manual_seed(5)
    try:
        s = S(num_train_timesteps=50)
        s.set_timesteps(6)
        x = torch.randn(1, 1, 8, 8) * getattr(s, "init_noise_sigma", 1.0)
        with torch.no_grad():
            for t in s.timesteps:
                x = s.step(
                    u(s.scale_model_input(x, t) if hasattr(s, "scale_model_input") else x, t).sample, t, x, **kw
                ).prev_sample
        print(S.__name__, x.abs().sum().item())
    except Exception as e:
        print(S.__name__, "raises", type(e).__name__, str(e)[:70])
v = AutoencoderKL(
    in_channels=3,
    out_channels=3,
    down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
    up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
    block_out_channels=(8, 16),
    norm_num_groups=4,
    latent_channels=2,
    layers_per_block=1,
)
x = torch.rand(2, 3, 16, 16)
e = v.encode(x).latent_dist
z = e.sample(torch.Generator().manual_seed(0))
r = v.decode(z).sample
l = (r - x).pow(2).mean() + 0.001 * e.kl().mean()
l.backward()
print("vae", z.shape, l.item(), e.mode().sum().item())
v.enable_slicing()
v.enable_tiling()
print(v.decode(z).sample.shape)
vq = VQModel(
    in_channels=3,
    out_channels=3,
    block_out_channels=(8,),
    norm_num_groups=4,
    latent_channels=2,
    num_vq_embeddings=8,
    sample_size=8,
)
print("vq", vq(x).sample.sum().item())
c = UNet2DConditionModel(
    sample_size=8,
    in_channels=2,
    out_channels=2,
    layers_per_block=1,
    block_out_channels=(8, 16),
    norm_num_groups=4,
    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    cross_attention_dim=12,
    attention_head_dim=4,
)
y = c(torch.randn(2, 2, 8, 8), torch.tensor([3, 7]), encoder_hidden_states=torch.randn(2, 5, 12)).sample
y.pow(2).mean().backward()
print("cond", y.sum().item(), sum(p.grad.norm() for p in c.parameters() if p.grad is not None).item())
cn = ControlNetModel.from_unet(c, conditioning_embedding_out_channels=(8, 16))
dn, mid = cn(
    torch.randn(1, 2, 8, 8),
    torch.tensor([2]),
    encoder_hidden_states=torch.randn(1, 5, 12),
    controlnet_cond=torch.rand(1, 3, 16, 16),
    return_dict=False,
)
print("control", len(dn), mid.shape)
tr = DiTTransformer2DModel(
    num_attention_heads=2,
    attention_head_dim=8,
    in_channels=2,
    num_layers=1,
    sample_size=8,
    patch_size=2,
    num_embeds_ada_norm=10,
    norm_num_groups=2,
)
print("dit", tr(torch.randn(1, 2, 8, 8), timestep=torch.tensor([3]), class_labels=torch.tensor([1])).sample.shape)
p = DDPMPipeline(u, d)
p.set_progress_bar_config(disable=True)
print(
    p(batch_size=1, num_inference_steps=3, output_type="np", generator=torch.Generator().manual_seed(1))
    .images.sum()
    .item()
)
p = DDIMPipeline(u, DDIMScheduler(num_train_timesteps=50))
p.set_progress_bar_config(disable=True)
print(p(num_inference_steps=3, output_type="np", generator=torch.Generator().manual_seed(1)).images.sum().item())
import tempfile

d = tempfile.mkdtemp()
u.save_pretrained(d)
w = UNet2DModel.from_pretrained(d)
print(torch.equal(w.conv_in.weight, u.conv_in.weight))
print(d is not None and sorted(DDPMScheduler(beta_start=0.001).config)[:3])
from diffusers.training_utils import EMAModel, compute_snr

em = EMAModel(u.parameters(), decay=0.9)
[q.data.mul_(1.1) for q in u.parameters()]
em.step(u.parameters())
em.copy_to(u.parameters())
print(sum(q.sum() for q in u.parameters()).item())
print(compute_snr(DDPMScheduler(num_train_timesteps=50), torch.tensor([1, 20])).tolist())
u.enable_gradient_checkpointing()
u.train()
u(torch.randn(1, 1, 8, 8), torch.tensor([1])).sample.sum().backward()
print(u.num_parameters(), u.dtype)
