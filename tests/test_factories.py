"""New tensors: sizes, types, options, refusals."""

import warnings

import numpy as np
import pytest

import clarion as torch

from .without_gpu import without_gpu


@pytest.mark.parametrize("factory", [torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn])
def test_sizes_in_all_their_forms(factory):
    for made in (factory(2, 3), factory((2, 3)), factory([2, 3]), factory(torch.Size([2, 3])), factory(size=(2, 3))):
        assert made.shape == (2, 3)
        assert made.dtype is torch.float32
    assert factory(()).shape == ()
    assert factory(0).shape == (0,)
    assert factory(2, dtype=torch.float64, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (lambda: torch.zeros(2.5), TypeError, "must be tuple of ints, not float"),
        (lambda: torch.zeros(True), TypeError, "not bool"),
        (lambda: torch.zeros((2,), 3), TypeError, "takes 1 positional argument"),
        (lambda: torch.zeros(2, bogus=1), TypeError, "unexpected keyword argument 'bogus'"),
        (lambda: torch.zeros(-1), RuntimeError, "Dimension size must be non-negative"),
        (lambda: torch.empty(2, -1), RuntimeError, r"negative dimension -1: \[2, -1\]"),
        (lambda: torch.zeros(2, dtype="float"), TypeError, "must be torch.dtype, not str"),
        (lambda: torch.ones(2, dtype=torch.int64, requires_grad=True), RuntimeError, "Only Tensors of floating point"),
        (lambda: torch.zeros(2, out=torch.empty(2), dtype=torch.float64), RuntimeError, "does not match dtype of out"),
        (lambda: torch.full((2,), 300, dtype=torch.uint8), RuntimeError, "without overflow"),
        (lambda: torch.full((2,), torch.ones(2)), TypeError, "'fill_value'"),
        (lambda: torch.zeros_like([1]), TypeError, "must be Tensor, not list"),
        (lambda: torch.zeros_like(torch.ones(2), memory_format=torch.channels_last), RuntimeError, "required rank 4"),
        (lambda: torch.arange(5, 1), RuntimeError, "inconsistent with step sign"),
        (lambda: torch.arange(1, 5, 0), RuntimeError, "step must be nonzero"),
        (lambda: torch.arange(0, float("inf")), RuntimeError, "unsupported range"),
        (lambda: torch.arange(), TypeError, "invalid combination of arguments"),
        (lambda: torch.linspace(0, 1, -1), RuntimeError, "number of steps must be non-negative"),
        (lambda: torch.eye(-1), RuntimeError, "n must be greater or equal to 0, got -1"),
    ],
)
def test_refusals(call, kind, phrase):
    with pytest.raises(kind, match=phrase):
        call()


def test_values_and_types():
    assert torch.full((2,), 1).dtype is torch.int64
    assert torch.full((2,), True).dtype is torch.bool
    assert torch.full((2,), 1j).dtype is torch.complex64
    assert torch.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert torch.arange(5).dtype is torch.int64
    assert torch.arange(1, 2, 0.25).tolist() == [1, 1.25, 1.5, 1.75]
    assert torch.arange(end=3).tolist() == torch.arange(start=0, end=3, step=1).tolist() == [0, 1, 2]
    assert torch.linspace(0, 1, 5).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert torch.linspace(0, 5, 4, dtype=torch.int32).tolist() == [0, 1, 3, 5]
    assert torch.logspace(0, 2, 3).tolist() == [1, 10, 100]
    assert torch.scalar_tensor(3).dtype is torch.float32


def test_like_keeps_type_and_memory_order():
    x = torch.tensor(np.zeros((2, 3), np.float64)).t()
    assert torch.zeros_like(x).stride() == x.stride() == (1, 3)
    assert torch.ones_like(x).dtype is torch.float64
    assert torch.full_like(x, 2, dtype=torch.int8).tolist() == [[2, 2]] * 3
    assert torch.zeros_like(x, memory_format=torch.contiguous_format).stride() == (2, 1)
    assert x.new_zeros(2).dtype is torch.float64
    assert x.new_full((2,), 3).tolist() == [3, 3]
    assert x.new_tensor([1, 2]).dtype is torch.float64
    assert torch.empty((2, 3, 4, 5), memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
    assert torch.empty_strided((2, 2), (1, 2)).stride() == (1, 2)


def test_out_takes_the_shape():
    out = torch.empty(0)
    assert torch.ones(2, out=out) is out
    assert out.tolist() == [1, 1]
    with pytest.warns(UserWarning, match="will be resized"):
        torch.arange(3, out=out)
    assert out.tolist() == [0, 1, 2]


def test_default_type():
    try:
        torch.set_default_dtype(torch.float64)
        made = torch.tensor(1.0), torch.zeros(1), torch.arange(2.0), torch.tensor(1j)
        assert [m.dtype for m in made] == [torch.float64] * 3 + [torch.complex128]
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError, match="only floating-point types"):
        torch.set_default_dtype(torch.int32)


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays")  # (said once in a process)
@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (3, "int64", ()),
        ([1, 2.5, True], "float32", (3,)),
        ([True, False], "bool", (2,)),
        ([], "float32", (0,)),
        ([[], []], "float32", (2, 0)),
        ([1, 2j], "complex64", (2,)),
        ([1, np.float64(2)], "float64", (2,)),
        ([np.int32(1)], "int32", (1,)),
        (np.float32(1), "float32", ()),
        (range(3), "int64", (3,)),
        (((1, 2), [3, 4]), "int64", (2, 2)),
        ([np.array([1.0, 2]), np.array([3.0, 4])], "float64", (2, 2)),
    ],
)
def test_inferred_types(data, dtype, shape):
    made = torch.tensor(data)
    assert (made.dtype, made.shape) == (getattr(torch, dtype), shape)


@pytest.mark.parametrize(
    ("data", "kind", "phrase"),
    [
        ([[1, 2], [3, 4, 5]], ValueError, r"expected sequence of length 2 at dim 1 \(got 3\)"),
        ([[[1, 2]], [[3, 4], [5, 6]]], ValueError, r"expected sequence of length 1 at dim 1 \(got 2\)"),
        ("a", TypeError, "invalid data type 'str'"),
        (["a"], ValueError, "too many dimensions 'str'"),
        ([None], RuntimeError, "Could not infer dtype of NoneType"),
        ([[1], 2], TypeError, "not a sequence"),
        (2**63, ValueError, "Overflow when unpacking long long"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_"),
        (np.array([1, 2])[::-1], ValueError, "At least one stride in the given numpy array is negative"),
        (np.array([1.0], ">f4"), ValueError, "byte order different from the native"),
    ],
)
def test_data_that_make_no_tensor(data, kind, phrase):
    with pytest.raises(kind, match=phrase):
        torch.tensor(data)


def test_conversions_on_the_way_in():
    assert torch.tensor([1.7], dtype=torch.int32).tolist() == [1]
    assert torch.tensor([-1], dtype=torch.uint8).tolist() == [255]
    assert torch.tensor([1e40]).tolist() == [float("inf")]
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.tensor([300], dtype=torch.uint8)
    with pytest.raises(TypeError, match="must be real number, not complex"):
        torch.tensor([1j], dtype=torch.float32)


def test_tensor_copies_and_warns():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        y = torch.tensor(x)
    assert y.is_leaf
    assert not y.requires_grad
    assert y.data_ptr() != x.data_ptr()
    array = np.ones(2)
    torch.tensor(array)[0].fill_(5) if hasattr(torch.Tensor, "fill_") else None
    assert array[0] == 1


def test_shared_memory():
    array = np.zeros(3)
    for share in (torch.from_numpy, torch.as_tensor, torch.asarray, torch.from_dlpack):
        array[0] = 0
        shared = share(array)
        array[0] = 7
        assert shared.tolist() == [7, 0, 0]
    x = torch.ones(2)
    assert torch.as_tensor(x) is x
    assert torch.asarray(x) is x
    assert torch.asarray(array, copy=True).data_ptr() != array.__array_interface__["data"][0]
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'Float' into dtype 'Double'"):
        torch.asarray(x, dtype=torch.float64, copy=False)


def test_from_numpy_refusals():
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got list\)"):
        torch.from_numpy([1])
    fixed = np.ones(2)
    fixed.flags.writeable = False
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        torch.from_numpy(fixed)


def test_buffers():
    memory = bytearray(b"abcdefgh")
    made = torch.frombuffer(memory, dtype=torch.int32, offset=4)
    memory[4:] = b"\x05\0\0\0"
    assert made.tolist() == [5]
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        torch.frombuffer(bytearray(b"abc"), dtype=torch.int32)
    with pytest.raises(ValueError, match="must not be greater than actual buffer length"):
        torch.frombuffer(memory, dtype=torch.int32, count=3)


@without_gpu
def test_names_that_need_a_gpu_say_so():
    assert not torch.cuda.is_available()
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        torch.zeros(2, device="cuda")
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        torch.cuda.reset_peak_memory_stats()


def test_limits_of_types():
    assert torch.finfo(torch.float32).eps == np.finfo(np.float32).eps
    assert torch.finfo(torch.float64).tiny == np.finfo(np.float64).tiny
    assert torch.finfo(torch.bfloat16).max == 3.3895313892515355e38
    assert torch.iinfo(torch.int8).min == -128
    with pytest.raises(TypeError, match="requires a floating point input type"):
        torch.finfo(torch.int32)
    with pytest.raises(TypeError, match="requires an integer input type"):
        torch.iinfo(torch.float32)


def test_inference_mode_marks_what_it_makes():
    with torch.inference_mode():
        assert torch.zeros(2).is_inference()
        assert torch.tensor([1.0]).is_inference()


def test_nothing_warns_by_default():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.tensor([[1, 2], [3, 4]])
        torch.linspace(0, 1, 7, dtype=torch.float16)
        torch.full((2,), float("inf"))
