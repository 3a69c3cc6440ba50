"""What is known of an operation stands with its declaration: traits exist, names exist, new operations are seen."""

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import clarion as torch
import clarion.diagnose
from clarion.core.namespace import OPS
from clarion.core.op import Op
from clarion.core.traits import TRAITS
from clarion.diagnose.graph.traits import Having, having
from clarion.kernels.registry import kernel

clarion.diagnose._use_own_engine()


def _modules_of_diagnose():
    for found in pkgutil.walk_packages(clarion.diagnose.__path__, "clarion.diagnose."):
        yield importlib.import_module(found.name)


def test_what_diagnoses_ask_for_exists():
    list(_modules_of_diagnose())
    assert len(Having.every) > 15
    for asked in Having.every:
        assert asked.traits <= set(TRAITS)
        assert asked.also <= set(OPS)
        assert asked.but <= {*TRAITS, *OPS}


def test_every_trait_is_had_by_an_operation():
    assert set(TRAITS) == {trait for op in OPS.values() for trait in op.traits}


def _names_compared(tree):
    """Strings that a diagnosis compares with the name of an operation: `op.name == "mul"`, `operation(node) in (…)`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        asks = any(
            (isinstance(s, ast.Attribute) and s.attr == "name" and getattr(s.value, "id", "") == "op")
            or (isinstance(s, ast.Call) and getattr(s.func, "id", "") == "operation")
            for s in sides
        )
        if asks:
            yield from (c.value for s in sides for c in ast.walk(s) if isinstance(c, ast.Constant))


def test_operations_that_diagnoses_name_exist():
    names = set()
    for file in Path(clarion.diagnose.__path__[0]).rglob("*.py"):
        names |= {name for name in _names_compared(ast.parse(file.read_text())) if isinstance(name, str)}
    assert {"mul", "softmax"} <= names
    assert names <= set(OPS)


def test_diagnoses_hold_no_tables_of_operations():
    """Three names of operations in one set or list are a trait that was not declared."""
    texts = {"assignments", "numpy_writes", "origins"}  # they read the user's source: methods, Python's functions
    found = []
    for file in Path(clarion.diagnose.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, (ast.Set, ast.List, ast.Tuple)) and file.stem not in texts:
                named = [e.value for e in node.elts if isinstance(e, ast.Constant) and e.value in OPS]
                if len(named) > 2 and set(named) != {"gt", "ge", "lt", "le", "eq", "ne"}:  # words for the user
                    found.append((file.name, named))
    assert not found


@pytest.fixture
def gram():
    """A product that nobody knew of when the diagnoses were written: x @ y.T."""

    @kernel("test_gram")
    def compute(xp, x, y):
        return x @ y.T

    op = Op("test_gram", "x y", traits="product")
    op.vjp(x=lambda g, y, ops: ops.mm(g, y), y=lambda g, x, ops: ops.fold_tn(g, x))
    yield op
    del OPS["test_gram"]


def test_a_new_operation_is_seen_by_what_asks_for_its_traits(gram):
    from clarion.diagnose.graph.units import activations

    products = having("product", but="accumulates")
    assert "test_gram" in products
    assert "addmm" not in products
    x, w = torch.randn(5, 3), torch.randn(4, 3, requires_grad=True)
    loss = torch.nn.functional.mse_loss(torch.relu(gram.call(x, w)) @ torch.randn(4, 1), torch.zeros(5, 1))
    seen = [found.layer.op.name for found in activations(loss)]
    assert seen == ["test_gram"]


def test_an_unknown_trait_is_refused():
    with pytest.raises(ValueError, match="no such trait: produkt"):
        Op("exp_of_nothing", "x", traits="produkt")
    assert "exp_of_nothing" not in OPS


def test_an_unknown_policy_of_mixed_precision_is_refused():
    from clarion.ops.faces.autocast import CASTS, autocast

    with pytest.raises(ValueError, match="autocast policies are lower, float32"):
        autocast("half")
    assert len(CASTS) > 90
    assert len({id(cast.function) for cast in CASTS}) == len(CASTS)
