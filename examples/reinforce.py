"""Policy gradients learn to balance a pole on a cart; the physics is a few lines of NumPy."""

import numpy as np

import clarion as torch
from clarion import nn, optim

POLES, LIMIT, DISCOUNT = 16, 200, 0.98


class Poles:
    """Many carts side by side, each with a pole: position, speed, angle, angular speed."""

    def __init__(self, count: int, rng: np.random.Generator) -> None:
        self.state = rng.uniform(-0.05, 0.05, (count, 4))
        self.standing = np.ones(count, dtype=bool)

    def step(self, push_right: np.ndarray) -> None:
        """A fiftieth of a second under a push of 10 N to the right or to the left; what fell stays fallen."""
        _, speed, angle, spin = self.state.T
        force = np.where(push_right, 10.0, -10.0)
        sine, cosine = np.sin(angle), np.cos(angle)
        common = (force + 0.05 * spin**2 * sine) / 1.1
        spin_change = (9.8 * sine - cosine * common) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        change = np.stack([speed, common - 0.05 * spin_change * cosine / 1.1, spin, spin_change], axis=1)
        self.state += np.where(self.standing[:, None], 0.02 * change, 0)
        self.standing &= (abs(self.state[:, 0]) < 2.4) & (abs(self.state[:, 2]) < 0.21)


def play(policy: nn.Module, rng: np.random.Generator) -> tuple[torch.Tensor, np.ndarray]:
    """The log-probability of every action taken, and the reward (1 while standing), both (time, pole)."""
    poles = Poles(POLES, rng)
    chosen, rewards = [], []
    while poles.standing.any() and len(rewards) < LIMIT:
        rewards.append(poles.standing.astype(np.float32))
        log_probabilities = policy(torch.from_numpy(poles.state.astype(np.float32))).log_softmax(dim=1)
        actions = torch.multinomial(log_probabilities.detach().exp(), 1)
        chosen.append(log_probabilities.gather(1, actions).squeeze(1))
        poles.step(actions.squeeze(1).cpu().numpy() == 1)
    return torch.stack(chosen), np.stack(rewards)


def returns(rewards: np.ndarray) -> np.ndarray:
    """The discounted sum of the rewards to come."""
    out, running = np.zeros_like(rewards), np.zeros(rewards.shape[1], dtype=np.float32)
    for time in reversed(range(len(rewards))):
        running = rewards[time] + DISCOUNT * running * rewards[time]
        out[time] = running
    return out


def run(steps: int = 60) -> list[float]:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = optim.Adam(policy.parameters(), lr=2e-2)
    losses = []
    for step in range(1, steps + 1):
        chosen, rewards = play(policy, rng)
        alive, gain = rewards > 0, returns(rewards)
        advantage = np.where(alive, (gain - gain[alive].mean()) / (gain[alive].std() + 1e-6), 0).astype(np.float32)
        loss = -(chosen * torch.from_numpy(advantage)).sum() / alive.sum().item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 10 == 0:
            print(f"round {step:3}  the pole stands for {rewards.sum(axis=0).mean():5.1f} of {LIMIT} moments")
    return losses


if __name__ == "__main__":
    run()
