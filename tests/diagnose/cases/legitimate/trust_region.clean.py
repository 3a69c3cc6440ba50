"""Must stay silent: a natural gradient step by conjugate gradients on Hessian-vector products, with a line search."""

import torch
from torch import nn
from torch.distributions import Categorical, kl_divergence
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(62)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
value = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
value_optimizer = torch.optim.Adam(value.parameters(), lr=1e-2)


def surrogate(states, actions, advantages, old):
    return (torch.exp(Categorical(logits=policy(states)).log_prob(actions) - old) * advantages).mean()


def conjugate_gradient(product, b, steps=5):
    x, r, p = torch.zeros_like(b), b.clone(), b.clone()
    for _ in range(steps):
        Ap = product(p)
        alpha = r.dot(r) / (p.dot(Ap) + 1e-8)
        x, fresh = x + alpha * p, r - alpha * Ap
        p = fresh + fresh.dot(fresh) / (r.dot(r) + 1e-8) * p
        r = fresh
    return x


def flat_grad(output, create_graph=False):
    grads = torch.autograd.grad(output, list(policy.parameters()), create_graph=create_graph, retain_graph=True)
    return torch.cat([g.reshape(-1) for g in grads])


for iteration in range(10):
    states = torch.randn(40, 4)
    with torch.no_grad():
        before = Categorical(logits=policy(states))
        actions = before.sample()
        old = before.log_prob(actions)
    rewards = (actions == states[:, :3].argmax(1)).float()
    value_loss = nn.functional.mse_loss(value(states).squeeze(1), rewards)
    value_optimizer.zero_grad()
    value_loss.backward()
    value_optimizer.step()
    advantages = (rewards - value(states).squeeze(1)).detach()
    gain = surrogate(states, actions, advantages, old)
    gradient = flat_grad(gain).detach()
    divergence = flat_grad(kl_divergence(before, Categorical(logits=policy(states))).mean(), create_graph=True)
    direction = conjugate_gradient(lambda v: flat_grad(divergence.dot(v)) + 0.1 * v, gradient)
    start, size = parameters_to_vector(policy.parameters()).detach(), 0.5
    for _ in range(6):
        vector_to_parameters(start + size * direction, policy.parameters())
        with torch.no_grad():
            if surrogate(states, actions, advantages, old) > gain:
                break
        size *= 0.5
    else:
        vector_to_parameters(start, policy.parameters())
print(rewards.mean().item(), value_loss.item())
