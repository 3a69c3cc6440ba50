"""torch.utils.tensorboard: the same calls write the same records as PyTorch's writer."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import clarion
from clarion.errors import NotSupportedError


def test_without_the_package_it_fails_as_pytorchs_does(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for name in [name for name in sys.modules if name.startswith("clarion.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ModuleNotFoundError, match="tensorboard") as caught:
        importlib.import_module("clarion.utils.tensorboard")
    assert caught.value.name == "tensorboard"


def written(folder) -> list[tuple[str, int, str]]:
    """All records below a folder: where, step, content."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    found = []
    for file in sorted(folder.rglob("events*")):
        for event in LegacyEventFileLoader(str(file)).Load():
            if event.HasField("summary"):
                found.append((str(file.parent.relative_to(folder)), event.step, str(event.summary)))
    return sorted(found)


def write(writer, t) -> None:
    values = np.linspace(-3, 5, 200)
    for step in range(3):
        writer.add_scalar("loss", t.tensor(1.5 / (step + 1)), step)
        writer.add_scalar("lr", 0.1, global_step=step, new_style=True)
        writer.add_scalar("exact", np.float64(0.1), step, new_style=True, double_precision=True)
        writer.add_scalars("both/of", {"a": step, "b": t.tensor([2.0 * step])}, step)
    writer.add_histogram("weights", t.tensor(values).reshape(20, 10), 1)
    writer.add_histogram("weights", t.tensor(values), 2, bins="auto")
    writer.add_histogram("weights", values, 3, max_bins=50)
    writer.add_histogram("one", t.zeros(3, dtype=t.bfloat16), 0)
    writer.add_text("note", "**bold** ü", 4)
    picture = t.tensor(values[:75].reshape(3, 5, 5))
    writer.add_image("picture", picture, 0)
    writer.add_image("grey", (picture[0] * 255).to(t.uint8), 0, dataformats="HW")
    writer.add_image("last", picture.permute(1, 2, 0), 0, dataformats="HWC")
    writer.add_images("several", t.tensor(values[:180].reshape(10, 1, 6, 3)), 0)
    writer.add_hparams(
        {"lr": 0.1, "name": "sgd", "on": True, "none": None}, {"accuracy": 0.9}, {"lr": [0.1, 0.2]}, "run", 1
    )


@pytest.mark.compare
def test_records_are_the_same(tmp_path):
    pytest.importorskip("tensorboard", reason="its files are read by tensorboard")
    torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")
    for t in (clarion, torch):
        tensorboard = importlib.import_module(f"{t.__name__}.utils.tensorboard")
        with tensorboard.SummaryWriter(str(tmp_path / t.__name__)) as writer:
            write(writer, t)
    ours, theirs = written(tmp_path / "clarion"), written(tmp_path / "torch")
    assert len(ours) > 20
    assert ours == theirs


def test_writer(tmp_path):
    pytest.importorskip("tensorboard", reason="its files are read by tensorboard")
    from clarion.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(tmp_path), purge_step=3)
    assert writer.get_logdir() == str(tmp_path)
    writer.add_scalar("a", 1.0, 3)
    writer.flush()
    writer.close()
    writer.close()
    writer.add_scalar("a", 2.0, 4)  # opens a new file
    writer.close()
    assert [(step, text.count("simple_value")) for _, step, text in written(tmp_path)] == [(3, 1), (4, 1)]
    with pytest.raises(NotSupportedError, match=r"does not have SummaryWriter\.add_graph"):
        writer.add_graph(None)
    with pytest.raises(AssertionError, match="should contain one element"):
        writer.add_scalar("a", clarion.ones(2))


@pytest.mark.compare
def test_figures(tmp_path):
    pytest.importorskip("tensorboard", reason="its files are read by tensorboard")
    pytest.importorskip("torch", reason="the comparison needs PyTorch")
    matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for name in ("clarion", "torch"):
        with importlib.import_module(f"{name}.utils.tensorboard").SummaryWriter(str(tmp_path / name)) as writer:
            for step in range(2):
                figures = [plt.figure(figsize=(1, 1)) for _ in range(2)]
                figures[0].add_subplot().plot([1, 2, 3])
                writer.add_figure("figure", figures if step else figures[0], step)
            plt.close("all")
    assert written(tmp_path / "clarion") == written(tmp_path / "torch")
