"""torch.distributed is not there: programs that ask go on alone, those that do not are told."""

from __future__ import annotations

import importlib

import pytest

import clarion
import clarion.distributed as dist
from clarion.errors import NotSupportedError
from clarion.torch_alias import alias


def test_programs_that_ask_go_on_alone():
    assert not dist.is_available()
    assert not dist.is_initialized()
    assert not dist.is_nccl_available()
    assert not clarion.distributed.is_torchelastic_launched()
    assert (dist.get_rank() if dist.is_initialized() else 0) == 0


@pytest.mark.parametrize("name", ["get_rank", "get_world_size", "barrier"])
def test_there_is_no_group(name):
    with pytest.raises(ValueError, match="Default process group has not been initialized") as caught:
        getattr(dist, name)()
    assert "in one process" in str(caught.value)


@pytest.mark.parametrize("name", ["init_process_group", "all_reduce", "broadcast", "new_group", "ProcessGroup"])
def test_the_rest_is_refused_by_name(name):
    with pytest.raises(NotSupportedError, match=rf"clarion does not have torch\.distributed\.{name}: .*one process"):
        getattr(dist, name)()


def test_names_in_signatures():
    def reduce(tensor, op=dist.ReduceOp.SUM, group: dist.ProcessGroup | None = dist.group.WORLD):
        return op, group

    assert reduce(None) == (dist.ReduceOp.SUM, None)


def test_below_it_is_nothing():
    with alias():
        assert importlib.import_module("torch.distributed") is dist
        with pytest.raises(ModuleNotFoundError, match=r"clarion does not have torch\.distributed\.fsdp"):
            importlib.import_module("torch.distributed.fsdp")


@pytest.mark.compare
def test_pytorch_refuses_alike_without_a_group():
    theirs = pytest.importorskip("torch.distributed")
    for name in ("get_rank", "get_world_size", "barrier", "get_backend"):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            getattr(theirs, name)()
