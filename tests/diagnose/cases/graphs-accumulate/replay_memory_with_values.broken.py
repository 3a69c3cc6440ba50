"""a replay memory stores the critic's value estimates with their graph although only their numbers are read later."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(38)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=5e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
memory = []


def play(state):
    dist = Categorical(logits=actor(state))
    action = dist.sample()
    reward = 1.0 if action.item() == int(state[0] > 0) else 0.0
    return reward, dist.log_prob(action), torch.randn(3)


state = torch.randn(3)
for episode in range(6):
    log_probs, rewards = [], []
    for move in range(12):
        value = critic(state).squeeze()  # EXPECT: graphs-accumulate
        reward, log_prob, following = play(state)
        memory.append((state, value, reward))
        log_probs.append(log_prob)
        rewards.append(reward)
        sample = [memory[i] for i in torch.randint(0, len(memory), (8,)).tolist()]
        states, returns = torch.stack([s for s, _, _ in sample]), torch.tensor([r for _, _, r in sample])
        critic_opt.zero_grad()
        nn.functional.mse_loss(critic(states).squeeze(1), returns).backward()
        critic_opt.step()
        state = following
    baseline = sum(float(v) for _, v, _ in memory[-12:]) / 12
    actor_opt.zero_grad()
    (-torch.stack(log_probs) * (torch.tensor(rewards) - baseline)).sum().backward()
    actor_opt.step()
    print("episode", episode, "reward", sum(rewards), "memory", len(memory))
