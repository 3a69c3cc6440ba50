"""The diagnoses on PyTorch's own engine: programs with marks at their lines, each in a forked process; and what must not change."""

import contextlib
import io
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion.doctor
from clarion.doctor import versions
from tests.diagnose.harness import CASES, complaints
from tests.doctor.harness import run

# What PyTorch's engine does not let us see, of all programs of tests/diagnose/cases (at most one in a hundred).
EXCEPTIONS: set[str] = set()
PROGRAMS = sorted(path for path in CASES.rglob("*.py") if "/".join(path.parts[-2:]) not in EXCEPTIONS)
# Every diagnosis is here with some of its programs; all of them: python -m tests.doctor.harness
SOME = [path for i, path in enumerate(PROGRAMS) if i % 12 == 5]


def test_exceptions_are_few():
    assert len(EXCEPTIONS) <= 0.01 * len(list(CASES.rglob("*.py")))


@pytest.mark.parametrize("path", SOME, ids=lambda path: "/".join(path.parts[-2:]))
def test_programs(path):
    outcome = run(path, thorough="custom-backward-wrong" in str(path))
    assert not complaints(path, outcome), outcome.output


@pytest.mark.parametrize("path", SOME[::8], ids=lambda path: path.stem)
def test_output_is_the_programs_own(path):
    assert run(path).output == run(path, watched=False).output


def test_pytorch_is_put_back_as_it_was():
    names = [
        (torch.nn.Module, "__init__"),
        (torch.nn.Module, "train"),
        (torch.optim.Optimizer, "zero_grad"),
        (torch.autograd, "_engine_run_backward"),
        (torch.no_grad, "__enter__"),
        (torch, "save"),
    ]
    before = [vars(owner)[name] for owner, name in names]
    with clarion.doctor.watch():
        assert [vars(owner)[name] for owner, name in names] != before
        model = torch.nn.Linear(2, 1)
        model(torch.randn(3, 2)).sum().backward()
    assert [vars(owner)[name] for owner, name in names] == before
    assert "grad" not in vars(torch.Tensor)
    assert torch._C._len_torch_function_stack() == 0


def test_graphs_are_freed_while_watched():
    import gc
    import weakref

    with clarion.doctor.watch():
        model = torch.nn.Linear(2, 2)
        gc.disable()
        try:
            hidden = model(torch.randn(3, 2)).relu()
            seen = weakref.ref(hidden)
            hidden.sum().backward()
            del hidden
            assert seen() is None
        finally:
            gc.enable()


def test_other_modes_keep_their_place():
    with clarion.doctor.watch(), torch.device("meta"):
        assert torch.nn.Linear(3, 3).weight.is_meta
    assert torch._C._len_torch_function_stack() == 0


def test_random_numbers_and_files_are_the_same(tmp_path):
    def train():
        torch.manual_seed(3)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(12):
            optimizer.zero_grad()
            model(torch.randn(5, 3)).pow(2).mean().backward()
            optimizer.step()
        file = io.BytesIO()
        torch.save(model.state_dict(), file)
        return file.getvalue(), torch.rand(1).item()

    alone = train()
    with clarion.doctor.watch():
        assert train() == alone


def test_functorch_export_and_compile_go_by():
    model = torch.nn.Linear(3, 1)
    x = torch.randn(4, 3)
    with clarion.doctor.watch() as watch:
        weights = dict(model.named_parameters())

        def loss(weights, x):
            return torch.func.functional_call(model, weights, (x,)).pow(2).sum()

        one = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(weights, x)
        assert one["weight"].shape == (4, 1, 3)
        with contextlib.redirect_stderr(io.StringIO()):
            assert torch.export.export(model, (x,)) is not None
        fast = torch.compile(model, backend="aot_eager")
        fast(x).sum().backward()
    assert not watch._session.failures


@pytest.mark.filterwarnings("ignore:`torch.jit.trace:DeprecationWarning")
def test_traces_name_the_lines_they_had():
    model, x = torch.nn.Linear(3, 1), torch.randn(4, 3)

    def line():
        return next(text for text in str(torch.jit.trace(model, x).graph).splitlines() if "aten::linear" in text)

    alone = line()
    with clarion.doctor.watch() as watch:
        assert line() == alone
        assert torch._C._len_torch_function_stack() == 1
    assert not watch._session.failures


def test_versions_are_checked(monkeypatch):
    versions.check()
    monkeypatch.setattr(torch, "__version__", "2.3.1")
    with pytest.raises(versions.UnsupportedPyTorch, match=r"2\.4 or newer"):
        versions.check()
    monkeypatch.setattr(torch, "__version__", "2.4.0")
    monkeypatch.delattr(torch.autograd, "_engine_run_backward")
    with pytest.raises(versions.UnsupportedPyTorch, match="_engine_run_backward"):
        versions.check()


def test_what_fails_is_taken_out_and_named(monkeypatch):
    from clarion.doctor import hearing

    monkeypatch.setattr(hearing, "place_new_nodes", lambda *_: 1 / 0)
    with clarion.doctor.watch() as watch:
        y = torch.nn.Linear(2, 1)(torch.randn(3, 2)).sum()
        y.backward()
        assert torch._C._len_torch_function_stack() <= 1
    assert any("PyTorch" in name for name in watch._session.failures)


def test_the_command_runs_programs_on_pytorch(tmp_path):
    import json
    import subprocess
    import sys

    script = Path(tmp_path, "train.py")
    script.write_text(
        "import torch\nmodel = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.01)\n"
        "for _ in range(5):\n    model(torch.ones(4, 2)).mean().backward()\n    optimizer.step()\nprint('done', torch.__version__)\n"
    )
    command = [sys.executable, "-m", "clarion", "run", "--engine", "torch", "--json", "found.json", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, f"done {torch.__version__}\n"), done.stderr
    assert [(f["name"], f["line"]) for f in json.loads(Path(tmp_path, "found.json").read_text())] == [
        ("stale-gradient", 6)
    ]


@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_each_watch_begins_anew():
    """The model and its optimizer may be older than the session."""
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        with clarion.doctor.watch() as watch:
            for _ in range(5):
                model(torch.ones(2, 3)).mean().backward()
                optimizer.step()
        assert [finding.name for finding in watch.findings] == ["stale-gradient"]


@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_a_watch_within_a_watch_goes_on():
    """A callback, or a cell that is run twice: nothing that was heard is forgotten, and the outer one does not end."""

    def train(steps):
        for _ in range(steps):
            model(torch.ones(2, 3)).mean().backward()
            optimizer.step()

    with clarion.doctor.watch() as outer:
        model = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        train(1)
        with clarion.doctor.watch(strict=True) as inner:
            assert inner._session is outer._session
            with pytest.raises(clarion.DiagnosisError):
                train(4)
        assert not outer._session.strict
        assert outer._session.mode != "off"
        torch.nn.functional.cross_entropy(
            torch.softmax(model(torch.ones(2, 3)).expand(2, 3), 1), torch.tensor([0, 1])
        ).backward()
    assert inner.findings[0].name == "stale-gradient"
    assert [finding.name for finding in outer.findings] == ["stale-gradient", "softmax-twice"]


class _Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, row):
        return torch.full((3,), float(row) / 48)


class _Named(torch.Tensor):
    """A subclass that does nothing of its own."""


def _workers(model, step):
    for batch in torch.utils.data.DataLoader(_Rows(), batch_size=8, num_workers=2):
        step(model(batch))


def _threads(model, step):
    import threading

    def work():
        other = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(other.parameters(), lr=0.01)
        for _ in range(10):
            optimizer.zero_grad()
            other(torch.randn(4, 3)).pow(2).mean().backward()
            optimizer.step()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        step(model(torch.randn(4, 3)))
    for thread in threads:
        thread.join()


def _checkpoints(model, step):
    for _ in range(6):
        step(torch.utils.checkpoint.checkpoint(model, torch.randn(4, 3), use_reentrant=False))


def _subclasses(model, step):
    for _ in range(6):
        step(model(torch.randn(4, 3).as_subclass(_Named)))


def _meta_tensors(model, step):
    other = torch.nn.Linear(3, 1, device="meta")
    optimizer = torch.optim.SGD(other.parameters(), lr=0.01)
    for _ in range(6):
        optimizer.zero_grad()
        other(torch.randn(4, 3, device="meta")).pow(2).mean().backward()
        optimizer.step()
        step(model(torch.randn(4, 3)))


def _in_a_pool(work):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def _in_a_thread(work):
    import threading

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def _in_a_thread_that_is_polled(work):
    import threading
    import time

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        time.sleep(0.01)


@pytest.mark.parametrize("run", [_in_a_pool, _in_a_thread, _in_a_thread_that_is_polled])
@pytest.mark.parametrize("builds", [True, False])
@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_another_thread_trains_while_the_first_waits(run, builds):
    """It is diagnosed in its place; and the first again when the other has ended."""

    def make():
        model = torch.nn.Linear(3, 1)
        return model, torch.optim.SGD(model.parameters(), lr=0.01)

    with clarion.doctor.watch() as watch:
        made = make() if not builds else None

        def train():
            model, optimizer = made or make()
            for _ in range(12):
                model(torch.randn(4, 3)).pow(2).mean().backward()
                optimizer.step()

        run(train)
        model, optimizer = make()
        for _ in range(12):
            model(torch.randn(4, 3)).pow(2).mean().backward()
            optimizer.step()
    assert watch._session.failures == {}
    assert [finding.name for finding in watch.findings] == ["stale-gradient"] * 2  # at two lines


@pytest.mark.parametrize("what", [_workers, _threads, _checkpoints, _subclasses, _meta_tensors])
@pytest.mark.parametrize("clears", [True, False])
@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning", "ignore:`torch.cpu.amp.autocast:FutureWarning")
def test_what_goes_on_beside_the_training(what, clears):
    """The same findings, and nothing of ours fails."""
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(output):
        if clears:
            optimizer.zero_grad()
        output.pow(2).mean().backward()
        optimizer.step()

    with clarion.doctor.watch() as watch:
        what(model, step)
    assert not watch._session.failures
    assert [finding.name for finding in watch.findings] == ([] if clears else ["stale-gradient"])


@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_clarions_own_trainings_are_diagnosed_afterwards():
    with clarion.doctor.watch():
        torch.nn.Linear(2, 1)(torch.ones(3, 2)).sum().backward()
    model = clarion.nn.Linear(3, 1)
    optimizer = clarion.optim.SGD(model.parameters(), lr=0.01)
    with clarion.diagnose.watching() as found:
        for _ in range(5):
            model(clarion.ones(2, 3)).mean().backward()
            optimizer.step()
        assert not clarion.diagnose._session.failures
    assert [finding.name for finding in found] == ["stale-gradient"]


def test_at_rest_pytorchs_own_functions_stand_in_their_places():
    clear, called = torch.optim.Optimizer.zero_grad, torch.nn.Module.__call__
    model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Dropout(0.1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def steps(count):
        for _ in range(count):
            optimizer.zero_grad()
            model(torch.randn(2, 3)).pow(2).mean().backward()
            optimizer.step()

    with clarion.doctor.watch() as watch:
        steps(20)
        assert torch.optim.Optimizer.zero_grad is not clear
        steps(200)
        session = watch._session
        assert session.mode == "rest"
        assert torch.optim.Optimizer.zero_grad is clear
        assert torch.nn.Module.__call__ is called
        model.eval()  # a new phase
        assert session.mode != "rest"
        assert torch.optim.Optimizer.zero_grad is not clear
        model.train()
        steps(400)
        assert session.steps() == 620
        assert not session.failures
    assert torch.optim.Optimizer.zero_grad is clear


@pytest.mark.filterwarnings("ignore::clarion.DiagnosisWarning")
def test_a_late_nan_says_when_to_listen_and_is_named_then():
    def train(other=False, **how):
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        with clarion.doctor.watch(**how) as watch:
            for step in range(300):
                y = model(torch.randn(8, 4)) * (step != 250)
                root = y.pow(2).sum(1).sqrt()
                loss = (root - 1).pow(2).mean()
                if other:
                    loss = loss + (y[:, 0].abs() + 1).sqrt().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return watch.findings

    line = train.__code__.co_firstlineno + 7
    (only,) = train()  # there is one operation that it can be
    assert (only.name, only.line) == ("non-finite-backward", line)
    (unheard,) = train(other=True)
    assert unheard.name == "non-finite-forward"
    assert "--listen-at 251" in unheard.what
    (heard,) = train(other=True, listen_at=251)
    assert (heard.name, heard.line) == ("non-finite-backward", line)


def test_lines_are_transferred_where_operations_are_the_same():
    from clarion.doctor.nodes import aligned

    known, lines = ("mean", "sub", "mm", "tanh", "mm"), (1, 1, 2, 3, 4)
    assert aligned(list(known), known, lines) == list(lines)
    # What is left of the step before, and of the one before that.
    assert aligned([*known, "tanh", "mm", "mm"], known, lines) == [*lines, 3, 4, 4]
    # A branch that was taken for the first time.
    assert aligned(["mean", "sub", "mm", "exp", "tanh", "mm"], known, lines) == [1, 1, 2, None, 3, 4]
    assert aligned(["sum", "exp", "mm"], known, lines) == [None] * 3


def test_healthy_steps_read_no_values(monkeypatch):
    """Reading a tensor's values waits for a GPU: where there is one, no step but those that are listened to closely does so."""
    from clarion.diagnose import engine
    from clarion.doctor import values

    torch.manual_seed(0)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    reads, modes, began = [], set(), ""

    def counted(original):
        def count(*args):
            callers = [sys._getframe(depth).f_code.co_qualname for depth in range(1, 6)]
            close = "near" in (began, watched._session.mode) or any(name.startswith("_Look.") for name in callers)
            if not close:  # (a look is compared with what was noted while listening closely)
                reads.append((began, *callers))
            return original(*args)

        return count

    with clarion.doctor.watch() as watched:
        monkeypatch.setattr(engine, "late", lambda t: True)
        for module, name in ((engine, "array"), (engine, "some"), (values, "array")):
            monkeypatch.setattr(module, name, counted(getattr(module, name)))
        model = torch.nn.Sequential(
            torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(16, 3)
        )
        optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
        for _ in range(700):
            began = watched._session.mode
            modes.add(began)
            x = torch.randn(16, 6)
            loss = torch.nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        assert modes == {"near", "awake", "rest"}
        assert not watched.findings
    assert not reads


@pytest.mark.filterwarnings("ignore::clarion.errors.DiagnosisWarning")
def test_libraries_clear_for_the_user(tmp_path, monkeypatch):
    """What an installed package does with `.grad`, and how it retains graphs, is known; that it does so is its own business."""
    package = tmp_path / "site-packages" / "inference"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import torch\n"
        "def update(loss, parameters, optimizer):\n"
        "    loss.backward(retain_graph=True)\n"
        "    optimizer.step()\n"
        "    for p in parameters:\n"
        "        p.grad = torch.zeros_like(p.grad)\n"
        "def update_twice(loss, parameters, optimizer):\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    import inference

    for update, names in ((inference.update, []), (inference.update_twice, ["stale-gradient"])):
        with clarion.doctor.watch() as watched:
            model = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(model.parameters(), 1e-3)
            for _ in range(20):
                update(model(torch.randn(8, 4)).pow(2).mean(), list(model.parameters()), optimizer)
        assert [finding.name for finding in watched.findings] == names
