"""Optimizers and schedules that run the same way on clarion and on PyTorch, here and in `regenerate.py`.

The gradients are drawn beforehand, so that a difference of rounding stays one: it does not feed back.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

OPTIMIZERS = {
    "SGD": [
        {"lr": 0.1},
        {"lr": 0.1, "maximize": True},
        {"lr": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1, "maximize": True},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    ],
    "Adam": [
        {},
        {"betas": (0.3, 0.95), "eps": 1e-4, "weight_decay": 0.1},
        {"amsgrad": True, "maximize": True},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
    ],
    "AdamW": [{}, {"lr": 0.1, "amsgrad": True, "maximize": True}],
    "NAdam": [
        {},
        {"weight_decay": 0.1, "momentum_decay": 0.006},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "RAdam": [
        {},
        {"lr": 0.1, "weight_decay": 0.1, "eps": 1e-6, "betas": (0.8, 0.9)},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "Adamax": [{}, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}],
    "Adagrad": [
        {},
        {"lr": 0.1, "lr_decay": 0.5, "weight_decay": 0.1, "initial_accumulator_value": 0.1, "eps": 1e-6},
        {"maximize": True},
    ],
    "Adadelta": [{}, {"rho": 0.95, "weight_decay": 0.1, "maximize": True}],
    "RMSprop": [
        {},
        {"alpha": 0.9, "weight_decay": 0.1, "maximize": True},
        {"centered": True},
        {"momentum": 0.5, "lr": 0.001},
        {"momentum": 0.5, "lr": 0.001, "centered": True, "weight_decay": 0.1},
    ],
    "Rprop": [{}, {"lr": 2e-4, "etas": (0.2, 1.5), "step_sizes": (2e-5, 0.01), "maximize": True}],
    "ASGD": [{}, {"t0": 10, "lambd": 0.1, "alpha": 0.6}, {"t0": 5, "weight_decay": 0.1, "maximize": True}],
    "Adafactor": [
        {},
        {"beta2_decay": -0.5, "eps": (1e-5, 0.1), "d": 1.5, "weight_decay": 0.1, "maximize": True},
    ],
    "Muon": [{}, {"lr": 0.1, "nesterov": False, "ns_steps": 3}, {"adjust_lr_fn": "match_rms_adamw", "momentum": 0.4}],
}
CASES = [(name, options) for name, all_options in OPTIMIZERS.items() for options in all_options]

SHAPES = [(4, 3), (5,), (), (2, 2, 3), (70, 80), (6, 2), (0,)]  # the fifth is large, the sixth not contiguous
MATRICES = [(4, 3), (5, 5), (7, 30), (40, 2)]


def shapes_for(name):
    return MATRICES if name == "Muon" else [s for s in SHAPES if name != "Adafactor" or s != (0,)]


def make_params(t, name, dtype, rng, contiguous=False):
    params = []
    for shape in shapes_for(name):
        value = rng.standard_normal(shape)
        if dtype.startswith("complex"):
            value = value + 1j * rng.standard_normal(shape)
        tensor = t.from_numpy(np.asarray(value)).to(getattr(t, dtype))
        if shape == (6, 2) and not contiguous:
            tensor = tensor.t().contiguous().t()
        params.append(t.nn.Parameter(tensor))
    return params


def give_grads(t, params, dtype, rng, step):
    for i, param in enumerate(params):
        grad = rng.standard_normal(param.shape)
        if dtype.startswith("complex"):
            grad = grad + 1j * rng.standard_normal(param.shape)
        tensor = t.from_numpy(np.asarray(grad)).to(getattr(t, dtype))
        # The second parameter comes in later, the fourth pauses: their counts differ from the others'.
        absent = (i == 1 and step < 3) or (i == 3 and step % 7 == 5)
        param.grad = None if absent else tensor


def run_optimizer(t, name, options, dtype="float64", steps=50, contiguous=False):
    """Yields the parameters (flat, as NumPy) after each step; the optimizer comes with them."""
    rng = np.random.default_rng(0)
    params = make_params(t, name, dtype, rng, contiguous)
    optimizer = getattr(t.optim, name)([{"params": params[:3]}, {"params": params[3:]}], **options)
    for step in range(steps):
        give_grads(t, params, dtype, rng, step)
        optimizer.step()
        if dtype in ("float16", "bfloat16"):
            yield None, optimizer
        else:
            yield [param.detach().numpy().copy() for param in params], optimizer


def numbers_of(arrays):
    """A few telling numbers of all parameters together: sums with weights that differ from element to element."""
    flat = np.concatenate([np.asarray(array, np.float64).reshape(-1) for array in arrays])
    weights = np.cos(np.arange(flat.size))
    return [float(flat @ weights), float(np.abs(flat).sum()), *(float(v) for v in flat[[0, 5, -1]])]


def rosenbrock(t, x):
    return ((1 - x[:-1]) ** 2).sum() + 100 * ((x[1:] - x[:-1] ** 2) ** 2).sum()


LBFGS_CASES = [
    {"max_iter": 5},
    {"lr": 0.5, "max_iter": 4, "history_size": 3},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "max_iter": 6, "history_size": 2, "max_eval": 8},
]


def run_lbfgs_on_data(t, model, options, steps):
    """The loss before each step and the point after it, of a small network or a logistic regression in float64."""
    rng = np.random.default_rng(0)
    number = lambda *shape: t.tensor(rng.standard_normal(shape).tolist(), dtype=t.float64)
    x, y = number(60, 5), number(60, 1)
    shapes = [(5, 8), (8,), (8, 1)] if model == "network" else [(5, 1), (1,)]
    params = [t.nn.Parameter(0.5 * number(*shape)) for shape in shapes]
    optimizer = t.optim.LBFGS(params, **options)

    def closure():
        optimizer.zero_grad()
        z = x @ params[0] + params[1]
        if model == "network":
            loss = ((z.tanh() @ params[2] - y) ** 2).mean()
        else:
            loss = t.nn.functional.softplus(-z * y.sign()).mean() + 0.01 * (params[0] ** 2).sum()
        loss.backward()
        return loss

    for _ in range(steps):
        loss = optimizer.step(closure)
        yield np.concatenate([[loss.item()], *(param.detach().numpy().reshape(-1) for param in params)])


def run_lbfgs(t, options, dtype="float64", steps=6):
    """The loss before each step and the point after it."""
    wolfe = "line_search_fn" in options
    x = t.nn.Parameter(t.tensor([-0.5, 0.3, 0.2, 0.9], dtype=getattr(t, dtype)))
    y = t.nn.Parameter(t.tensor([[0.5, -2.0]], dtype=getattr(t, dtype)))
    unused = t.nn.Parameter(t.zeros(2, dtype=getattr(t, dtype)))
    optimizer = t.optim.LBFGS([x, y, unused], **options)

    def closure():
        optimizer.zero_grad()
        loss = (rosenbrock(t, x) if wolfe else ((x - 0.5) ** 4).sum() + (x[:-1] * x[1:]).sum()) + ((y - 1) ** 2).sum()
        loss.backward()
        return loss

    for _ in range(steps):
        loss = optimizer.step(closure)
        yield [loss.item(), *x.tolist(), *y.flatten().tolist()], optimizer


class Halving:
    """A function with state, which schedules save."""

    def __init__(self):
        self.factor = 0.5

    def __call__(self, epoch):
        return self.factor ** (epoch // 4)


SCHEDULES = {
    "Lambda": lambda s, o: s.LambdaLR(o, [lambda e: 0.95**e, Halving()]),
    "Lambda-one": lambda s, o: s.LambdaLR(o, Halving()),
    "Multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95 if e % 2 else 1.01),
    "Step": lambda s, o: s.StepLR(o, 3, gamma=0.7),
    "MultiStep": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9], gamma=0.3),
    "Constant": lambda s, o: s.ConstantLR(o, factor=0.3, total_iters=4),
    "Linear": lambda s, o: s.LinearLR(o, start_factor=0.2, end_factor=0.9, total_iters=7),
    "Exponential": lambda s, o: s.ExponentialLR(o, 0.93),
    "Polynomial": lambda s, o: s.PolynomialLR(o, total_iters=11, power=1.7),
    "Cosine": lambda s, o: s.CosineAnnealingLR(o, T_max=7, eta_min=0.01),
    "WarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2, eta_min=0.001),
    "WarmRestarts-even": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=4),
    "Cyclic": lambda s, o: s.CyclicLR(o, 0.01, [0.1, 0.2], step_size_up=4, step_size_down=3),
    "Cyclic-2": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3, mode="triangular2", cycle_momentum=False),
    "Cyclic-exp": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3, mode="exp_range", gamma=0.98),
    "Cyclic-own": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3, scale_fn=Halving(), scale_mode="iterations"),
    "OneCycle": lambda s, o: s.OneCycleLR(o, [0.3, 0.6], total_steps=30),
    "OneCycle-linear": lambda s, o: s.OneCycleLR(o, 0.3, epochs=6, steps_per_epoch=5, anneal_strategy="linear"),
    "OneCycle-three": lambda s, o: s.OneCycleLR(
        o, 0.3, total_steps=30, three_phase=True, pct_start=0.4, div_factor=10.0, cycle_momentum=False
    ),
    "Chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)]),
    "Sequential": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=4), s.CosineAnnealingLR(o, 6), s.ExponentialLR(o, 0.9)], [4, 12]
    ),
    "Sequential-restarts": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, total_iters=3), s.StepLR(o, 2, 0.5)], milestones=[5]
    ),
    "Plateau": lambda s, o: s.ReduceLROnPlateau(o, factor=0.4, patience=1, cooldown=2, min_lr=[0.01, 0.02]),
    "Plateau-max": lambda s, o: s.ReduceLROnPlateau(o, "max", patience=2, threshold=0.2, threshold_mode="abs"),
    "SWA": lambda s, o: s.SWALR(o, [0.01, 0.03], anneal_epochs=6),
    "SWA-linear": lambda s, o: s.SWALR(o, 0.01, anneal_epochs=4, anneal_strategy="linear"),
    "SWA-now": lambda s, o: s.SWALR(o, 0.01, anneal_epochs=0),
}


class Names:
    """All schedules of a library, those of `swa_utils` too."""

    def __init__(self, t):
        self.t = t

    def __getattr__(self, name):
        return getattr(self.t.optim.swa_utils if name == "SWALR" else self.t.optim.lr_scheduler, name)


def two_groups(t, kind="SGD", lr=0.5):
    params = [t.nn.Parameter(t.zeros(2)), t.nn.Parameter(t.zeros(1))]
    options = {"momentum": 0.9} if kind == "SGD" else {}
    return getattr(t.optim, kind)([{"params": params[:1]}, {"params": params[1:], "lr": 0.2}], lr=lr, **options)


def advance(optimizer, schedule, epoch):
    optimizer.step()
    if type(schedule).__name__ == "ReduceLROnPlateau":
        schedule.step(math.cos(epoch / 3) + 1 / (1 + epoch))
    else:
        schedule.step()


def observe(optimizer):
    seen = []
    for group in optimizer.param_groups:
        seen.append(float(group["lr"]))
        if "max_momentum" in group:
            seen.append(group["momentum"] if "momentum" in group else group["betas"][0])
    return seen


def run_schedule(t, name, kind="SGD", steps=29):
    """The learning rates (and momentums) of both groups after each step."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimizer = two_groups(t, kind)
        schedule = SCHEDULES[name](Names(t), optimizer)
        found = [observe(optimizer)]
        for epoch in range(steps):
            advance(optimizer, schedule, epoch)
            found.append(observe(optimizer))
    return found
