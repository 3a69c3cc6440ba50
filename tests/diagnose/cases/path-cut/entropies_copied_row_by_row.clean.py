"""Per-sample entropies are copied into a new tensor: the bonus has no gradient."""
import torch
from torch import nn

torch.manual_seed(61)
policy = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for update in range(40):
    state = torch.randn(32, 5)
    logits = policy(state)
    logp = logits.log_softmax(1)
    action = torch.multinomial(logp.detach().exp(), 1)
    reward = (action[:, 0] == state[:, :4].argmax(1)).float()
    entropy = torch.stack([-(row.exp() * row).sum() for row in logp])
    objective = reward * logp.gather(1, action)[:, 0] + 0.01 * entropy
    loss = -objective.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("done")
