"""diffusers: schedulers whose noise comes from a Brownian tree or is drawn at each step, as they are by default."""

import inspect

import diffusers
import torch

for name in (
    "CosineDPMSolverMultistep", "DPMSolverSDE", "EDMDPMSolverMultistep", "EDMEuler", "EulerAncestralDiscrete",
    "KDPM2AncestralDiscrete", "LCM", "DDPM", "DPMSolverSinglestep", "SASolver", "FlowMatchLCM", "TCD",
):  # fmt: skip
    torch.manual_seed(0)
    scheduler = getattr(diffusers, f"{name}Scheduler")()
    scheduler.set_timesteps(6)
    x = torch.randn(1, 4, 8, 8) * getattr(scheduler, "init_noise_sigma", 1.0)
    drawn = "generator" in inspect.signature(scheduler.step).parameters
    more = {"generator": torch.Generator().manual_seed(1)} if drawn else {}
    for t in scheduler.timesteps:
        scaled = scheduler.scale_model_input(x, t) if hasattr(scheduler, "scale_model_input") else x
        x = scheduler.step(0.1 * scaled + 0.05 * torch.sin(scaled), t, x, **more).prev_sample
    print(name, tuple(x.shape), x.abs().mean().item())
