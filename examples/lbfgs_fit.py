"""A damped oscillation is fitted to noisy measurements by L-BFGS with a line search."""

import clarion as torch
from clarion import optim

TRUE = {"amplitude": 1.8, "decay": 0.4, "frequency": 3.2, "phase": 0.7}


def oscillation(time: torch.Tensor, parameters: torch.Tensor) -> torch.Tensor:
    amplitude, decay, frequency, phase = parameters
    return amplitude * torch.exp(-decay * time) * torch.cos(frequency * time + phase)


def run(steps: int = 20) -> list[float]:
    torch.manual_seed(0)
    double = torch.float64  # differences of gradients say how the error curves: they lose digits
    time = torch.linspace(0, 6, 200, dtype=double)
    measured = oscillation(time, torch.tensor(list(TRUE.values()))) + 0.05 * torch.randn(200, dtype=double)
    parameters = torch.tensor([1.0, 0.1, 3.0, 0.0], dtype=double, requires_grad=True)
    optimizer = optim.LBFGS([parameters], max_iter=3, history_size=5, line_search_fn="strong_wolfe")
    evaluations = 0

    def closure() -> torch.Tensor:
        nonlocal evaluations
        evaluations += 1
        optimizer.zero_grad()
        loss = torch.mean((oscillation(time, parameters) - measured) ** 2)
        loss.backward()
        return loss

    losses = []
    for step in range(1, steps + 1):
        losses.append(optimizer.step(closure).item())
        if step <= 5 or step == steps:
            print(f"step {step:3}  error {losses[-1]:.6f}  evaluations {evaluations}")
    for (name, true), found in zip(TRUE.items(), parameters.tolist(), strict=True):
        print(f"{name:>10}: {found:.4f} (true {true})")
    return losses


if __name__ == "__main__":
    run()
