"""torch-optimizer: many update rules on one problem."""

import torch
import torch_optimizer

torch.manual_seed(0)
x, y = torch.randn(64, 5), torch.randn(64, 1)
names = (
    "A2GradExp",
    "AccSGD",
    "AdaBelief",
    "AdaBound",
    "AdaMod",
    "Adahessian",
    "AdamP",
    "AggMo",
    "Apollo",
    "DiffGrad",
    "LARS",
    "Lamb",
    "MADGRAD",
    "NovoGrad",
    "PID",
    "QHAdam",
    "QHM",
    "RAdam",
    "RangerQH",
    "RangerVA",
    "SGDP",
    "SGDW",
    "SWATS",
    "Shampoo",
    "Yogi",
)
for name in names:
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = getattr(torch_optimizer, name)(model.parameters(), lr=1e-2)
    for _ in range(6):
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward(create_graph=name == "Adahessian")
        optimizer.step()
    print(name, loss.item())
