"""Optimizers and schedules, step by step, against PyTorch's: its own database of cases, and ours."""

from __future__ import annotations

import copy
import inspect
import warnings

import numpy as np
import pytest

import clarion

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db

from ..optim.runs import (
    CASES,
    LBFGS_CASES,
    SCHEDULES,
    Names,
    advance,
    observe,
    run_lbfgs,
    run_lbfgs_on_data,
    run_optimizer,
    run_schedule,
)
from ..optim.runs import two_groups as groups_of

RTOL = {"float32": 2e-6, "float64": 1e-13, "complex64": 2e-6, "complex128": 1e-13, "float16": 2e-2, "bfloat16": 5e-2}


def ours(value):
    """Options of the database for clarion."""
    if isinstance(value, torch.Tensor):
        return clarion.tensor(value.tolist(), dtype=getattr(clarion, str(value.dtype).rpartition(".")[2]))
    if isinstance(value, torch.nn.Parameter):
        return clarion.nn.Parameter(ours(value.detach()))
    if isinstance(value, (list, tuple)):
        return type(value)(map(ours, value))
    return {k: ours(v) for k, v in value.items()} if isinstance(value, dict) else value


def plain(value):
    return value.detach().numpy() if hasattr(value, "detach") else value


def assert_state(mine, theirs, rtol):
    """Two entries of state: the same keys in the same order, the same types, the same values."""
    if isinstance(theirs, dict):
        assert list(mine) == list(theirs)
        for key in theirs:
            assert_state(mine[key], theirs[key], rtol)
    elif isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            assert_state(a, b, rtol)
    elif isinstance(theirs, torch.Tensor):
        assert str(mine.dtype) == str(theirs.dtype)
        assert tuple(mine.shape) == tuple(theirs.shape)
        a, b = (np.asarray(plain(x.float() if x.dtype.itemsize == 2 else x)) for x in (mine, theirs))
        np.testing.assert_allclose(a, b, rtol=rtol * 100, atol=rtol)
    elif isinstance(theirs, float):
        assert mine == pytest.approx(theirs, rel=rtol * 100)
    else:
        assert mine == theirs


def assert_groups(mine, theirs):
    for a, b in zip(mine, theirs, strict=True):
        assert list(a) == list(b)
        for key, value in b.items():
            assert_state(a[key], value, 1e-6)


def compare(name, options, dtype, steps=50, contiguous=False):
    rtol = RTOL[dtype]
    theirs = run_optimizer(torch, name, options, dtype, steps, contiguous)
    found = run_optimizer(clarion, name, ours(options), dtype, steps, contiguous)
    for step, (mine, wanted) in enumerate(zip(found, theirs, strict=True)):
        for a, b in zip(mine[0], wanted[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=rtol * 10, atol=rtol * (1 + step / 5), err_msg=f"step {step}")
    optimizer, other = mine[1], wanted[1]
    assert repr(optimizer) == repr(other)
    state, expected = optimizer.state_dict(), other.state_dict()
    assert_groups(state["param_groups"], expected["param_groups"])
    assert_state(state["state"], expected["state"], rtol * 10)


DATABASE = [
    pytest.param(info.name, case.kwargs, id=f"{info.name}-{case.desc}")
    for info in optim_db
    if info.name not in ("LBFGS", "SparseAdam")
    for case in info.optim_inputs_func(device="cpu")
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), DATABASE)
def test_database(name, options, dtype):
    compare(name, options, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_own_cases(name, options, dtype):
    compare(name, options, dtype)


COMPLEX = [case for case in CASES if case[0] not in ("Adafactor", "Muon")]


@pytest.mark.parametrize(("name", "options"), COMPLEX)
def test_complex(name, options):
    compare(name, options, "complex128", steps=15)


HALF = [case for case in CASES if case[0] != "Rprop"]  # the sign of a product that rounds to 0 is luck


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("name", "options"), HALF)
def test_half_precision(name, options, dtype):
    """PyTorch rounds after every operation, clarion once at the end: squares that are 0 in float16 are none here."""
    if isinstance(getattr(torch.optim, name)([torch.zeros(1, 1)], lr=0.1).defaults.get("eps"), float):
        options = {**options, "eps": 0.1}
    theirs, found = ((run_optimizer(t, name, options, dtype, 5)) for t in (torch, clarion))
    for (_, optimizer), (_, other) in zip(found, theirs, strict=True):
        for mine, wanted in zip(optimizer.param_groups, other.param_groups, strict=True):
            for p, q in zip(mine["params"], wanted["params"], strict=True):
                assert str(p.dtype) == str(q.dtype)
                a, b = p.detach().float().numpy(), q.detach().float().numpy()
                np.testing.assert_allclose(a, b, rtol=RTOL[dtype], atol=RTOL[dtype])


@pytest.mark.filterwarnings("ignore:TF32 acceleration")  # PyTorch's own, when told not to use a library
@pytest.mark.parametrize("shape", [(200, 200), (100, 300), (400, 150), (256, 256)])
def test_muon_of_large_matrices(shape):
    """PyTorch's sums depend on the processor here, and bfloat16 magnifies that: it differs from itself as we from it."""

    def run(t, steps):
        param = t.nn.Parameter(t.zeros(shape))
        param.grad = t.tensor(np.random.default_rng(0).standard_normal(shape).tolist())
        t.optim.Muon([param], lr=1.0, ns_steps=steps).step()
        return param.detach().numpy()

    assert (run(clarion, 1) == run(torch, 1)).mean() > 0.9999
    with torch.backends.mkldnn.flags(enabled=False):
        other_sums = run(torch, 5)
    usual = np.abs(other_sums - run(torch, 5)).max()
    assert 0 < usual < 0.02
    assert np.abs(run(clarion, 5) - run(torch, 5)).max() < 2 * usual


@pytest.mark.parametrize("momentum", [0.95, 0.3])
@pytest.mark.parametrize("shape", [(60, 70), (300, 211), (211, 300)])
def test_muon_outside_of_the_products(shape, momentum):
    """Momentum, decay and the last sum are PyTorch's bit for bit, however large: with no iteration all of it is."""

    def run(t):
        rng = np.random.default_rng(0)
        param = t.nn.Parameter(t.from_numpy(rng.standard_normal(shape, np.float32)))
        optimizer = t.optim.Muon([param], lr=0.1, momentum=momentum, ns_steps=0)
        for _ in range(3):
            param.grad = t.from_numpy(rng.standard_normal(shape, np.float32))
            optimizer.step()
        return param.detach().numpy(), optimizer.state[param]["momentum_buffer"].numpy()

    for mine, theirs in zip(run(clarion), run(torch), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_muon_does_not_skip_infinities():
    """With a learning rate of zero the update is zero times infinity: no number, in a large matrix as in a small one."""
    for t in (torch, clarion):
        for size in (4, 200):
            param = t.nn.Parameter(t.zeros(size, size))
            param.grad = t.full((size, size), float("inf"))
            t.optim.Muon([param], lr=0.0, ns_steps=1).step()
            assert bool(param.isnan().all())


@pytest.mark.parametrize("flag", ["foreach", "fused"])
@pytest.mark.parametrize("info", optim_db, ids=lambda info: info.name)
def test_other_ways_to_compute(info, flag):
    if flag not in info.supported_impls or (flag == "fused" and "cpu" not in info.supports_fused_on):
        pytest.skip(f"PyTorch has no {flag} for it")
    # PyTorch's fused steps go wrong where a parameter and its gradient are laid out differently.
    compare(info.name, {flag: True}, "float32", steps=5, contiguous=flag == "fused")


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True to a scalar")  # PyTorch's own
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("options", LBFGS_CASES, ids=str)
def test_lbfgs(options, dtype):
    # Each step builds on the last: rounding grows along the way.
    rtol = 1e-9 if dtype == "float64" else 5e-3
    steps = 6 if dtype == "float64" else 2
    theirs = run_lbfgs(torch, options, dtype, steps)
    for mine, wanted in zip(run_lbfgs(clarion, options, dtype, steps), theirs, strict=True):
        np.testing.assert_allclose(mine[0], wanted[0], rtol=rtol, atol=rtol)
    assert repr(mine[1]) == repr(wanted[1])
    assert list(mine[1].state_dict()["state"][0]) == list(wanted[1].state_dict()["state"][0])
    if dtype == "float64":
        assert_state(mine[1].state_dict()["state"], wanted[1].state_dict()["state"], 1e-7)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize(("model", "iterations", "tolerance"), [("network", 1, 1e-11), ("logistic", 4, 1e-14)])
def test_lbfgs_for_fifty_steps(model, iterations, tolerance, search):
    options = {"max_iter": iterations, "line_search_fn": search, "lr": 1 if search else 0.3}
    found, wanted = (list(run_lbfgs_on_data(t, model, options, steps=50)) for t in (clarion, torch))
    assert wanted[-1][0] < 0.8 * wanted[0][0]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance)


ERRORS = [
    pytest.param(info, error, id=f"{info.name}-{error.optimizer_error_input.desc}")
    for info in optim_db
    for error in info.optim_error_inputs_func(device="cpu", dtype=torch.float32)
    if "dense params" not in error.optimizer_error_input.desc  # clarion has no sparse tensors
]


def converted(params):
    """Parameters of the database; one that is there twice is so afterwards."""
    known = {}

    def one(value):
        if isinstance(value, torch.Tensor):
            if id(value) not in known:
                known[id(value)] = clarion.nn.Parameter(ours(value.detach()), requires_grad=value.requires_grad)
                if value.grad is not None:
                    known[id(value)].grad = ours(value.grad)
            return known[id(value)]
        if isinstance(value, (list, tuple)):
            return type(value)(map(one, value))
        return {k: one(v) for k, v in value.items()} if isinstance(value, dict) else value

    return one(params)


@pytest.mark.parametrize(("info", "error"), ERRORS)
def test_errors(info, error):
    case = error.optimizer_error_input
    params = [clarion.nn.Parameter(clarion.zeros(1, 1))] if case.params is None else converted(case.params)
    make = lambda: getattr(clarion.optim, info.name)(params, **ours(case.kwargs))
    if issubclass(error.error_type, Warning):
        with pytest.warns(error.error_type, match=error.error_regex):
            make()
    elif error.error_on is OptimizerErrorEnum.CONSTRUCTION_ERROR:
        with pytest.raises(error.error_type, match=error.error_regex):
            make()
    else:
        optimizer = make()
        with pytest.raises(error.error_type, match=error.error_regex):
            optimizer.step()


PUBLIC = [info.name for info in optim_db]
SCHEDULERS = [name for name in torch.optim.lr_scheduler.__all__ if name != "LRScheduler"]


def described(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("name", [*PUBLIC, *SCHEDULERS, "LRScheduler", "SWALR", "AveragedModel", "update_bn"])
def test_signatures(name):
    wanted, found = (getattr(Everything(t), name) for t in (torch, clarion))
    assert described(found) == described(wanted)


class Everything(Names):
    def __getattr__(self, name):
        for room in (self.t.optim, self.t.optim.lr_scheduler, self.t.optim.swa_utils):
            if hasattr(room, name):
                return getattr(room, name)
        raise AttributeError(name)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name, kind):
    assert run_schedule(clarion, name, kind) == run_schedule(torch, name, kind)


@pytest.mark.parametrize("name", SCHEDULES)
def test_state_of_schedules_goes_either_way(name):
    """Ten steps on one library, then ten on the other: as if nothing had happened."""
    straight = run_schedule(torch, name, steps=20)
    for first, second in ((torch, clarion), (clarion, torch)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimizer = groups_of(first)
            schedule = SCHEDULES[name](Names(first), optimizer)
            for epoch in range(10):
                advance(optimizer, schedule, epoch)
            state, groups = copy.deepcopy(schedule.state_dict()), copy.deepcopy(optimizer.state_dict())
            other = groups_of(second)
            resumed = SCHEDULES[name](Names(second), other)
            assert list(resumed.state_dict()) == [k for k in state if k != "anneal_func"]
            resumed.load_state_dict(state)
            other.load_state_dict(groups)
            assert observe(other) == straight[10]
            for epoch in range(10, 20):
                advance(other, resumed, epoch)
            assert observe(other) == straight[20]


@pytest.mark.parametrize("name", ["Step", "Linear", "Exponential", "Polynomial", "Cosine", "WarmRestarts", "Constant"])
def test_schedules_at_a_given_epoch(name):
    found = []
    for t in (torch, clarion):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            optimizer = groups_of(t)
            schedule = SCHEDULES[name](Names(t), optimizer)
            seen = []
            for epoch in (0, 4, 2, 13):
                optimizer.step()
                schedule.step(epoch)
                seen.append(observe(optimizer))
        found.append((seen, [str(w.message) for w in caught]))
    assert found[0] == found[1]


def test_warning_of_order():
    texts = []
    for t in (torch, clarion):
        optimizer = groups_of(t)
        schedule = t.optim.lr_scheduler.StepLR(optimizer, 1)
        with pytest.warns(UserWarning, match="before `optimizer.step") as caught:
            schedule.step()
        replaced = groups_of(t)
        second = t.optim.lr_scheduler.StepLR(replaced, 1)
        replaced.step = lambda: None
        with pytest.warns(UserWarning, match="overridden") as more:
            second.step()
        with pytest.warns(UserWarning, match="get_last_lr") as outside:
            schedule.get_lr()
        texts.append([str(w.message) for w in (*caught, *more, *outside)])
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("writer", [torch, clarion], ids=["written-by-torch", "written-by-clarion"])
def test_state_of_optimizers_goes_either_way(name, options, writer):
    """State written by one library is taken up by both alike."""
    *_, (arrays, optimizer) = run_optimizer(writer, name, options, "float64", steps=5)
    resumed = []
    for t in (torch, clarion):
        params = [t.nn.Parameter(t.tensor(a.tolist(), dtype=t.float64).reshape(a.shape)) for a in arrays]
        other = getattr(t.optim, name)([{"params": params[:3]}, {"params": params[3:]}], **options)
        other.load_state_dict(carried(optimizer.state_dict(), t))
        rng = np.random.default_rng(1)
        for _ in range(3):
            for param in params:
                grad = rng.standard_normal(tuple(param.shape))
                param.grad = t.tensor(grad.tolist(), dtype=t.float64).reshape(tuple(param.shape))
            other.step()
        resumed.append((other, params))
    (theirs, wanted), (mine, params) = resumed
    for p, q in zip(params, wanted, strict=True):
        np.testing.assert_allclose(plain(p), plain(q), rtol=1e-11, atol=1e-13)
    assert_state(mine.state_dict()["state"], theirs.state_dict()["state"], 1e-13)


def carried(value, t):
    if hasattr(value, "detach"):
        array = plain(value)
        return t.tensor(array.tolist(), dtype=getattr(t, str(value.dtype).rpartition(".")[2])).reshape(array.shape)
    if isinstance(value, (list, tuple)):
        return type(value)(carried(v, t) for v in value)
    return {k: carried(v, t) for k, v in value.items()} if isinstance(value, dict) else value


MODELS = {
    "swa": lambda u: {},
    "ema": lambda u: {"multi_avg_fn": u.get_ema_multi_avg_fn(0.9)},
    "ema-one": lambda u: {"avg_fn": u.get_ema_avg_fn(0.9)},
    "swa-one": lambda u: {"avg_fn": u.get_swa_avg_fn()},
    "default-buffers": lambda u: {"use_buffers": True},
    "ema-buffers": lambda u: {"multi_avg_fn": u.get_ema_multi_avg_fn(0.3), "use_buffers": True},
    "swa-buffers": lambda u: {"multi_avg_fn": u.get_swa_multi_avg_fn(), "use_buffers": True},
}


@pytest.mark.parametrize("name", MODELS)
def test_averaged_models(name):
    found = []
    for t in (torch, clarion):
        model = t.nn.Linear(3, 2)
        model.register_buffer("running", t.zeros(2))
        if not name.startswith("swa"):  # PyTorch refuses to average whole numbers in place
            model.register_buffer("count", t.tensor(0))
        averaged = t.optim.swa_utils.AveragedModel(model, **MODELS[name](t.optim.swa_utils))
        rng = np.random.default_rng(0)
        for _ in range(4):
            with t.no_grad():
                for each in (*model.parameters(), *model.buffers()):
                    each.copy_(t.tensor((10 * rng.standard_normal(tuple(each.shape))).tolist()))
            averaged.update_parameters(model)
        found.append(averaged.state_dict())
    mine, wanted = found[1], found[0]
    assert list(mine) == list(wanted)
    for key, value in wanted.items():
        np.testing.assert_allclose(plain(mine[key]), plain(value), rtol=1e-6, atol=1e-6)
        assert str(mine[key].dtype) == str(value.dtype)
