"""`clarion.doctor.watch()` in the cells of a notebook: findings name the cell, come with it, and come once.

Skipped without ipykernel and nbclient, which are none of the project's requirements.
"""

import pytest

pytest.importorskip("torch", reason="the comparison needs PyTorch")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")

WATCH = "import clarion.doctor; watched = clarion.doctor.watch()"
MODEL = """import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)"""
STALE = """for step in range(10):
    loss = (model(torch.randn(8, 4)) - 1).pow(2).mean()
    loss.backward()
    optimizer.step()
print("trained")"""
KEPT = """losses = []
for step in range(30):
    optimizer.zero_grad()
    loss = (model(torch.randn(8, 4)) - 1).pow(2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss)"""
OVERWRITTEN = """h = torch.exp(model(torch.ones(2, 4)))
h += 1
h.sum().backward()"""


def _run(*cells):
    """What each of the cells prints: standard output, and the rest."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    streams = [{"stdout": "", "stderr": "", "error": "", "result": ""} for _ in cells]
    for cell, told in zip(notebook.cells, streams, strict=True):
        for output in cell.outputs:
            if output.output_type == "stream":
                told[output.name] += output.text
            elif output.output_type == "error":
                told["error"] += output.ename
            else:
                told["result"] += output.data["text/plain"]
    return streams


def test_cells_are_named_and_told_once():
    told = _run(WATCH, MODEL, STALE, STALE, "len(watched.findings)", "watched.stop()", STALE)
    assert "stale-gradient Cell In[3]:4." in told[2]["stderr"]
    assert "`backward()` at Cell In[3]:3" in told[2]["stderr"]
    assert [cell["stderr"] for i, cell in enumerate(told) if i != 2] == [""] * 6
    assert [cell["stdout"] for cell in told] == ["", "", "trained\n", "trained\n", "", "", "trained\n"]
    assert told[4]["result"] == "1"


def test_what_waits_for_the_end_comes_with_its_cell():
    told = _run(WATCH, MODEL, KEPT, OVERWRITTEN, "1 + 1")
    assert "graphs-accumulate Cell In[3]:4." in told[2]["stderr"]
    assert told[3]["error"] == "RuntimeError"
    assert "saved-value-overwritten Cell In[4]:2. `Exp` at Cell In[4]:1" in told[3]["stderr"]
    assert (told[4]["stderr"], told[4]["result"]) == ("", "2")


def test_block():
    block = "with clarion.doctor.watch() as seen:\n    " + STALE.replace("\n", "\n    ")
    told = _run("import clarion.doctor\n" + MODEL, block, "[finding.where for finding in seen.findings]", STALE)
    assert "stale-gradient Cell In[2]:5." in told[1]["stderr"]
    assert told[2]["result"] == "['Cell In[2]:5']"
    assert told[3]["stderr"] == ""
