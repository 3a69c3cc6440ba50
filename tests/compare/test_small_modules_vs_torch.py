"""Small modules that programs import from: what is in them behaves as PyTorch's."""

from __future__ import annotations

import collections
import copy
import importlib

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the comparison needs PyTorch")

import clarion

pytestmark = pytest.mark.compare


def both(name: str):
    """clarion's module and PyTorch's."""
    return importlib.import_module(f"clarion.{name}"), importlib.import_module(f"torch.{name}")


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("types", "Number _Number Device FileLike _size _int _float _bool _dtype _device _layout _TensorOrTensors"),
        ("nn.common_types", "_size_1_t _size_2_t _size_3_t _size_any_t _ratio_any_t _maybe_indices_t"),
        ("storage", "UntypedStorage TypedStorage"),
        ("_tensor", "Tensor"),
        ("utils.hooks", "RemovableHandle unserializable_hook warn_if_has_hooks"),
        ("functional", "einsum meshgrid cdist tensordot split norm broadcast_tensors unique atleast_2d"),
        ("overrides", "is_tensor_like has_torch_function handle_torch_function TorchFunctionMode"),
        ("return_types", "max sort topk"),
        ("torch_version", "TorchVersion __version__"),
    ],
)
def test_names_are_there(module, names):
    ours, theirs = both(module)
    for name in names.split():
        getattr(theirs, name)
        getattr(ours, name)


def test_types_are_what_they_are():
    ours, theirs = both("types")
    for value in (1, 2.0, True, "cpu", None, 1j):
        assert isinstance(value, ours.Number) == isinstance(value, theirs.Number)
        assert isinstance(value, ours.Device) == isinstance(value, theirs.Device)
    assert clarion.functional.einsum is clarion.einsum
    assert isinstance(clarion.ones(2).untyped_storage(), clarion.storage.UntypedStorage)
    assert type(clarion.ones(2).max(0)) is clarion.return_types.max


def test_results_with_names_are_no_namedtuples():
    for t in (clarion, torch):
        found = t.tensor([[2.0, 0.0, 1.0]]).max(dim=1)
        assert type(found).__match_args__ == ("values", "indices")
        assert not hasattr(found, "_fields")
        match found:
            case t.return_types.max(values, indices):
                assert (values.item(), indices.item()) == (2.0, 0)
            case _:
                raise AssertionError(found)


def test_modules_name_the_whole():
    for t in (clarion, torch):
        assert t.sparse.torch.eye(3).sum() == 3
        assert t.jit.torch is t
        assert t.utils.torch is t


def test_handles():
    for t in (clarion, torch):
        hooks = collections.OrderedDict()
        handle = importlib.import_module(f"{t.__name__}.utils.hooks").RemovableHandle(hooks)
        hooks[handle.id] = print
        handle.remove()
        assert not hooks
        assert isinstance(t.ones(2, requires_grad=True).register_hook(print), type(handle))
        x = t.ones(2, requires_grad=True)
        x.register_hook(lambda g: g)
        with pytest.warns(UserWarning, match="will not be serialized"):
            importlib.import_module(f"{t.__name__}.utils.hooks").warn_if_has_hooks(x)


def test_flat_tensors():
    def run(t):
        utils = importlib.import_module(f"{t.__name__}._utils")
        tensors = [t.arange(6.0).reshape(2, 3).t(), t.tensor([7.0]), t.ones(2, 1, 2)]
        flat = utils._flatten_dense_tensors(tensors)
        back = utils._unflatten_dense_tensors(flat, tensors)
        groups = [[x.numel() for x in group] for group in utils._take_tensors([*tensors, t.ones(9).double()], 28)]
        return flat.tolist(), [b.tolist() for b in back], back[0].data_ptr() == flat.data_ptr(), groups

    assert run(clarion) == run(torch)


def test_overrides():
    class Like:
        def __torch_function__(self, *_):
            return None

    ours, theirs = both("overrides")
    for value in (3, Like(), "tensor"):
        assert ours.is_tensor_like(value) == theirs.is_tensor_like(value)
    assert ours.is_tensor_like(clarion.ones(1))
    assert not ours.has_torch_function((clarion.ones(1), 3))
    for t in (clarion, torch):
        assert t.overrides.is_tensor_method_or_property(t.Tensor.add)
        assert not t.overrides.is_tensor_method_or_property(t.add)


def test_a_mode_sees_the_calls():
    def run(t):
        seen = []

        class Seeing(t.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                seen.append(func.__name__)
                return func(*args, **(kwargs or {}))

        x = t.ones(3)
        with Seeing():
            y = t.exp(x).add(2).sum()
        t.exp(x)  # no longer seen
        bare = None
        try:
            with t.overrides.TorchFunctionMode():
                t.exp(x)
        except NotImplementedError as error:
            bare = type(error)
        return seen, y.item(), bare, t.overrides.has_torch_function((x,))

    assert run(clarion) == run(torch)


def test_tuples_of_sizes():
    ours, theirs = both("nn.modules.utils")
    for name in ("_single", "_pair", "_triple", "_quadruple"):
        for value in (3, (1, 2), [4, 5, 6]):
            assert getattr(ours, name)(value) == getattr(theirs, name)(value)
    assert ours._ntuple(5)(1) == theirs._ntuple(5)(1)
    assert ours._reverse_repeat_tuple((1, 2, 3), 2) == theirs._reverse_repeat_tuple((1, 2, 3), 2)
    assert ours._list_with_default([None, 5], [2, 3, 4]) == theirs._list_with_default([None, 5], [2, 3, 4])


def test_prefix_of_a_state():
    def run(t):
        state = t.nn.Sequential(t.nn.Linear(1, 1)).state_dict(prefix="module.")
        t.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
        return list(state), sorted(state._metadata)

    assert run(clarion) == run(torch)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1}, {"dilation": 2, "groups": 2}])
def test_gradients_of_convolutions(n, options):
    def run(t):
        rng = np.random.default_rng(0)
        x = t.tensor(rng.standard_normal((2, 4, *[7, 6, 5][:n])))
        w = t.tensor(rng.standard_normal((6, 4 // options.get("groups", 1), *[2] * n)))
        y = getattr(t.nn.functional, f"conv{n}d")(x, w, **options)
        g = t.tensor(rng.standard_normal(y.shape))
        of_input = getattr(t.nn.grad, f"conv{n}d_input")(x.shape, w, g, **options)
        of_weight = getattr(t.nn.grad, f"conv{n}d_weight")(x, w.shape, g, **options)
        return of_input.numpy(), of_weight.numpy()

    for ours, theirs in zip(run(clarion), run(torch), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


# Trees -----------------------------------------------------------------------------------------------------

Point = collections.namedtuple("Point", "x y")
TREES = [
    3,
    None,
    (1, [2, (3,)], {"b": 4, "a": [5, None]}),
    Point(1, (2, 3)),
    collections.OrderedDict(b=1, a=2),
    collections.defaultdict(list, {"k": 1}),
    collections.deque([1, 2], maxlen=5),
    (),
    [{}, []],
]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_trees(tree):
    ours, theirs = both("utils._pytree")
    leaves, spec = ours.tree_flatten(tree)
    assert leaves == theirs.tree_flatten(tree)[0] == ours.tree_leaves(tree)
    assert spec.num_leaves == len(leaves)
    back = ours.tree_unflatten(leaves, spec)
    assert back == tree
    assert type(back) is type(tree)
    assert spec == ours.tree_structure(copy.deepcopy(tree))
    assert ours.tree_map(str, tree) == theirs.tree_map(str, tree)
    assert ours.tree_map_only(int, lambda n: -n, tree) == theirs.tree_map_only(int, lambda n: -n, tree)
    assert ours.tree_any(lambda n: n == 2, tree) == theirs.tree_any(lambda n: n == 2, tree)
    assert ours.tree_all(lambda n: n is not None, tree) == theirs.tree_all(lambda n: n is not None, tree)
    assert ours.tree_map(lambda a, b: (a, b), tree, tree) == theirs.tree_map(lambda a, b: (a, b), tree, tree)


def test_trees_that_do_not_fit():
    ours, theirs = both("utils._pytree")
    for pytree in (ours, theirs):
        spec = pytree.tree_structure((1, {"a": 2}))
        with pytest.raises(
            ValueError, match=r"`leaves` has length 1 but the spec refers to a pytree that holds 2 items"
        ):
            pytree.tree_unflatten([1], spec)
        with pytest.raises(ValueError):
            pytree.tree_map(lambda a, b: a, (1, 2), (1, 2, 3))
        with pytest.raises(ValueError):
            pytree.tree_map(lambda a, b: a, {"a": 1}, {"b": 1})
        assert pytree._broadcast_to_and_flatten((0, None), pytree.tree_structure(((1, 2), [3]))) == [0, 0, None]
        assert pytree._broadcast_to_and_flatten((0, None), pytree.tree_structure([1, 2])) is None


def test_trees_of_a_registered_class():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    ours, _ = both("utils._pytree")
    ours.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda children, _: Pair(*children))
    doubled = ours.tree_map(lambda n: 2 * n, [Pair(1, (2,))])[0]
    assert (doubled.a, doubled.b) == (2, (4,))


def test_shapes_are_containers():
    """Libraries map over whatever a function gave them, and expect no container among the leaves."""
    for t, pytree in zip((clarion, torch), both("utils._pytree"), strict=True):
        leaves, spec = pytree.tree_flatten((t.Size([2, 3]), [t.Size([])]))
        assert leaves == [2, 3]
        assert pytree.tree_map(str, t.Size([2, 3])) == ("2", "3")
        assert pytree.tree_unflatten(leaves, spec) == ((2, 3), [()])
        assert t.Size not in pytree.BUILTIN_TYPES


def test_registering_again():
    for t, pytree in zip((clarion, torch), both("utils._pytree"), strict=True):

        class Pair:
            pass

        told = Pair, lambda p: ([], None), lambda children, _: Pair()
        with pytest.warns(FutureWarning, match=r"torch.utils._pytree._register_pytree_node` is deprecated"):
            pytree._register_pytree_node(*told)
        with (
            pytest.warns(FutureWarning),
            pytest.warns(UserWarning, match=r"already registered as pytree node. Overwriting"),
        ):
            pytree._register_pytree_node(*told)
        with pytest.raises(ValueError, match="already registered"):
            pytree.register_pytree_node(*told)
        assert pytree.__all__ == both("utils._pytree")[1].__all__, t
        assert [name for name in pytree.__all__ if not hasattr(pytree, name)] == []


def test_operations_by_name():
    for t in (clarion, torch):
        add = t.ops.aten.add
        assert copy.deepcopy(add) is add
        assert copy.copy([add.Tensor])[0] is copy.deepcopy(add.Tensor) is add.Tensor
        x = t.ones(2)
        assert add.out(x, x, out=t.zeros(2)).tolist() == add(x, x, out=t.zeros(2)).tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match="Unknown keyword argument 'out' for operator 'aten::add'"):
            add.Tensor(x, x, out=t.zeros(2))
        with pytest.raises(ValueError, match="prim is a reserved namespace"):
            t.library.Library("prim", "DEF")
        assert repr(t.library.Library("prim", "IMPL")) == "Library(kind=IMPL, ns=prim, dispatch_key=)>"
