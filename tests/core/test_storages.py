"""The memory behind tensors as an object: `torch.UntypedStorage`, `torch.TypedStorage`, `torch.FloatStorage` and their kin."""

from __future__ import annotations

import copy
import io
import pickle
import warnings

import numpy as np
import pytest

import clarion as torch


def test_bytes() -> None:
    storage = torch.UntypedStorage([1, 2, 3, 4])
    assert storage.tolist() == [1, 2, 3, 4]
    assert storage.nbytes() == len(storage) == 4
    assert storage[1] == 2
    assert storage[1:3].tolist() == [2, 3]
    assert storage.resizable()
    storage[0] = 9
    storage.resize_(6)
    assert storage.tolist()[:4] == [9, 2, 3, 4]
    assert storage.nbytes() == 6
    assert storage.fill_(7).clone().tolist() == [7] * 6


def test_the_storage_of_a_tensor_is_one_object_and_its_memory() -> None:
    x = torch.arange(6.0).view(2, 3)
    storage = x[1:].untyped_storage()
    assert storage is x.untyped_storage()
    assert storage.nbytes() == 24
    storage[3], storage[2] = 63, 128
    assert x[0, 0].item() == 1.0
    with pytest.raises(NotImplementedError, match="tensors lie in"):
        storage.resize_(48)


def test_memory_is_freed_and_made_again_around_a_recomputation() -> None:
    x = torch.arange(3.0)
    x.untyped_storage().resize_(0)
    assert x.untyped_storage().nbytes() == 0
    assert x.isnan().all()  # (PyTorch refuses to read it)
    x.untyped_storage().resize_(12)
    assert x.untyped_storage().nbytes() == 12
    assert x.copy_(torch.ones(3)).tolist() == [1, 1, 1]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_old_classes() -> None:
    storage = torch.FloatStorage([1, 2, 3])
    storage[1] = 5
    assert storage.tolist() == [1.0, 5.0, 3.0]
    assert storage.type() == "torch.FloatStorage"
    assert isinstance(storage, torch.FloatStorage)
    assert not isinstance(storage, torch.DoubleStorage)
    assert storage.int().tolist() == [1, 5, 3]
    assert storage.double().type() == "torch.DoubleStorage"
    x = torch.tensor([]).set_(storage)
    storage[0] = 7
    assert x.tolist() == [7.0, 5.0, 3.0]
    assert torch.FloatTensor(storage).tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="Expected a Storage of type"):
        torch.tensor(storage, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="slices are only supported"):
        storage[0:1]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_bytes_of_others() -> None:
    assert torch.ShortStorage.from_buffer(bytearray([1, 2, 3, 4]), "big").tolist() == [258, 772]
    assert torch.BoolStorage.from_buffer(b"\x00\x02", "big").tolist() == [False, True]
    swapped = torch.UntypedStorage(list(range(8)))
    swapped.byteswap(torch.complex64)
    assert swapped.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_copies_share_as_the_originals_did() -> None:
    x = torch.arange(4.0)
    y, storage = copy.deepcopy([x, x.untyped_storage()])
    assert storage.data_ptr() == y.data_ptr() != x.data_ptr()
    assert pickle.loads(pickle.dumps(torch.FloatStorage([1, 2]))).tolist() == [1.0, 2.0]


def test_switches_of_save_and_load(tmp_path: object) -> None:
    x, path = torch.arange(3.0), f"{tmp_path}/x.pt"
    torch.save(x, path)
    with torch.serialization.set_default_mmap_options(1):  # MAP_SHARED
        torch.load(path, mmap=True)[0] = 5
    assert torch.load(path, mmap=True).tolist() == [5.0, 1.0, 2.0]  # (its checksum is that of the old bytes)
    torch.load(path, mmap=True)[0] = 6
    assert torch.load(path, mmap=True).tolist() == [5.0, 1.0, 2.0]
    file = io.BytesIO()
    with torch.serialization.skip_data():
        torch.save(x, file)
    file.seek(0)
    assert torch.load(file).tolist() == [0.0, 0.0, 0.0]
    torch.save(x, file := io.BytesIO(), _disable_byteorder_record=True)
    torch.serialization.set_default_load_endianness(torch.serialization.LoadEndianness.BIG)
    try:
        file.seek(0)
        assert torch.load(file).tolist() != x.tolist()
    finally:
        torch.serialization.set_default_load_endianness(None)


def test_a_storage_is_written_to_a_file() -> None:
    file = io.BytesIO()
    torch.tensor([1, 2, 3], dtype=torch.int16).untyped_storage()._write_file(file, False, True, 2)
    assert file.getvalue() == (3).to_bytes(8, "little") + np.array([1, 2, 3], np.int16).tobytes()
    meta = torch.UntypedStorage(4, device="meta")
    with pytest.raises(NotImplementedError, match="Cannot copy out"):
        meta._write_file(file, False, True, 2)
    with pytest.raises(RuntimeError, match="only available on CPU"):
        meta._share_fd_cpu_()
    with pytest.raises(RuntimeError, match="only available on CPU"):
        meta._share_filename_cpu_()


def test_what_storages_are_made_from() -> None:
    base = torch._C.StorageBase

    class Own(base):  # type: ignore[misc,valid-type]
        pass

    assert isinstance(Own(), base)
    assert isinstance(torch.UntypedStorage(2), base)
    with pytest.raises(RuntimeError, match="Cannot directly construct"):
        base()


def test_private_ways_to_a_typed_storage_do_not_say_that_it_goes() -> None:
    torch.storage._reset_warn_typed_storage_removal()
    stored = torch.FloatStorage(2, _internal=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stored._setitem(0, 5)
        stored._resize_(3)
        assert (stored._size(), stored._element_size(), stored._nbytes(), stored._is_shared()) == (3, 4, 12, False)
        assert stored._deepcopy({})._data_ptr() != stored._data_ptr()
        assert torch.FloatStorage._dtype is torch.float32
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        assert torch.FloatStorage.dtype is torch.float32
    with pytest.raises(RuntimeError, match="Not available for CUDA storage"):
        torch.cuda.FloatStorage._new_with_weak_ptr()
