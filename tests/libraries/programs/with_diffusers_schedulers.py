"""diffusers: every scheduler takes a few steps with a small network in place of a model."""

import inspect

import diffusers
import torch

names = (
    "CMStochasticIterativeScheduler", "DDIMInverseScheduler", "DDIMParallelScheduler", "DDIMScheduler", "DDPMParallelScheduler",
    "DDPMScheduler", "DEISMultistepScheduler", "DPMSolverMultistepInverseScheduler", "DPMSolverMultistepScheduler",
    "DPMSolverSinglestepScheduler", "EDMDPMSolverMultistepScheduler", "EDMEulerScheduler", "EulerAncestralDiscreteScheduler",
    "EulerDiscreteScheduler", "FlowMatchEulerDiscreteScheduler", "FlowMatchHeunDiscreteScheduler", "HeunDiscreteScheduler",
    "IPNDMScheduler", "KDPM2AncestralDiscreteScheduler", "KDPM2DiscreteScheduler", "LCMScheduler", "LMSDiscreteScheduler",
    "PNDMScheduler", "SASolverScheduler", "TCDScheduler", "UniPCMultistepScheduler",
)  # fmt: skip
for name in names:
    scheduler = getattr(diffusers, name)()
    scheduler.set_timesteps(6)
    torch.manual_seed(0)
    sample = torch.randn(2, 3, 8, 8) * float(getattr(scheduler, "init_noise_sigma", 1.0))
    generator = torch.Generator().manual_seed(1)
    more = {"generator": generator} if "generator" in inspect.signature(scheduler.step).parameters else {}
    for t in scheduler.timesteps:
        scaled = scheduler.scale_model_input(sample, t) if hasattr(scheduler, "scale_model_input") else sample
        sample = scheduler.step(torch.tanh(scaled) * 0.5, t, sample, **more).prev_sample
    print(name, f"{sample.mean().item():.5f} {sample.std().item():.5f} {scheduler.timesteps.float().sum().item():.3f}")

torch.manual_seed(0)
model = diffusers.UNet2DModel(
    sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=4,
)  # fmt: skip
noising = diffusers.DDPMScheduler(
    num_train_timesteps=50, beta_schedule="squaredcos_cap_v2", prediction_type="v_prediction"
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
images = torch.tanh(torch.randn(8, 1, 8, 8).cumsum(-1))
for _ in range(4):
    noise, times = torch.randn_like(images), torch.randint(0, 50, (8,))
    found = model(noising.add_noise(images, noise, times), times).sample
    loss = torch.nn.functional.mse_loss(found, noising.get_velocity(images, noise, times))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")
