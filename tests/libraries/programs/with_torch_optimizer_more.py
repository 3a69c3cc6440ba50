"""torch-optimizer: every optimizer by name and by class, wrapped and scheduled."""

import torch
import torch_optimizer as topt


def rosen(p):
    x, y = p
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


for n in sorted(topt._NAME_OPTIM_MAP if hasattr(topt, "_NAME_OPTIM_MAP") else []):
    torch.manual_seed(0)
    try:
        O = topt.get(n)
        m = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        x = torch.randn(16, 4)
        y = x.sum(1, keepdim=True)
        o = O(m.parameters(), lr=0.01)
        for i in range(8):
            o.zero_grad()
            l = (m(x) - y).pow(2).mean()
            l.backward(create_graph=n == "adahessian")
            o.step() if n != "shampoo_" else None
        print(n, l.item())
    except Exception as e:
        print(n, "raises", type(e).__name__, str(e)[:60])
m = torch.nn.Linear(3, 1)
x = torch.randn(10, 3)
o = topt.Lookahead(topt.RAdam(m.parameters(), lr=0.05), k=3, alpha=0.5)
for i in range(9):
    o.zero_grad()
    l = m(x).pow(2).mean()
    l.backward()
    o.step()
print("look", l.item())
o = topt.SGDW(m.parameters(), lr=0.05, momentum=0.9, weight_decay=0.1, nesterov=True)
sch = torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=10)
for i in range(9):
    o.zero_grad()
    l = m(x).pow(2).mean()
    l.backward()
    o.step()
    sch.step()
print("sgdw", l.item(), o.param_groups[0]["lr"])
sd = o.state_dict()
o.load_state_dict(sd)
print(sorted(sd["param_groups"][0])[:4])
p = torch.tensor([-1.0, 2.0], requires_grad=True)
for O, kw in (
    (topt.Yogi, {}),
    (topt.AdaBound, {}),
    (topt.DiffGrad, {}),
    (topt.NovoGrad, {}),
    (topt.QHAdam, {}),
    (topt.QHM, dict(momentum=0.9, nu=0.7)),
    (topt.PID, {}),
    (topt.AggMo, {}),
    (topt.Apollo, {}),
    (topt.SWATS, {}),
    (topt.A2GradUni, {}),
    (topt.A2GradInc, {}),
    (topt.A2GradExp, {}),
    (topt.AccSGD, {}),
    (topt.AdaMod, {}),
    (topt.AdaBelief, {}),
    (topt.Adafactor, {}),
    (topt.AdamP, {}),
    (topt.SGDP, {}),
    (topt.Lamb, {}),
    (topt.MADGRAD, {}),
    (topt.Ranger, {}),
    (topt.RangerQH, {}),
    (topt.RangerVA, {}),
    (topt.Shampoo, {}),
    (topt.AdaShift if hasattr(topt, "AdaShift") else topt.RAdam, {}),
):
    q = p.detach().clone().requires_grad_()
    try:
        o = O([q], lr=0.001, **kw)
        for i in range(10):
            o.zero_grad()
            l = rosen(q)
            l.backward()
            torch.nn.utils.clip_grad_norm_([q], 1.0)
            o.step()
        print(O.__name__, q.tolist())
    except Exception as e:
        print(O.__name__, "raises", type(e).__name__, str(e)[:60])
