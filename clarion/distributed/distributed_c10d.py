"""`torch.distributed.distributed_c10d`: the group of one process, in which every exchange is with oneself."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from datetime import timedelta
from enum import Enum
from typing import Any

from ..absent import rest
from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, EngineError, NotSupportedError
from .stores import PrefixStore as PrefixStore
from .stores import Store as Store

__all__ = [
    "Backend",
    "GroupMember",
    "P2POp",
    "ProcessGroup",
    "ReduceOp",
    "Work",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "reduce",
    "reduce_op",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
]  # fmt: skip

default_pg_timeout = timedelta(minutes=30)


class ReduceOp(Enum):
    """How values of several processes are put together; those of one stay as they are."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]
reduce_op = ReduceOp


class Backend(str):
    """A way of communicating, by name."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    MPI = "mpi"
    UCC = "ucc"
    XCCL = "xccl"
    backend_list = ["undefined", "gloo"]
    default_device_backend_map = {"cpu": "gloo", "cuda": "nccl", "xpu": "xccl", "mps": "gloo"}

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ArgumentValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """A group of processes: of this one alone."""

    def __init__(self, backend: str, store: Any = None) -> None:
        self._backend = backend
        self._store = store  # lives as long as the group: the last worker of a FileStore takes its file away
        self.group_name = "0"

    def rank(self) -> int:
        """The number of this process."""
        return 0

    def size(self) -> int:
        """How many there are."""
        return 1

    def name(self) -> str:
        """The way of communicating."""
        return self._backend

    def __repr__(self) -> str:
        return f"<torch.distributed.ProcessGroup of one process, {self._backend}>"


class group:
    """The group of all processes, once it is there."""

    WORLD: ProcessGroup | None = None


class GroupMember(group):
    """Older name of it."""

    NON_GROUP_MEMBER = -100


class Work:
    """An exchange that was begun with `async_op=True`: it is done."""

    def wait(self, timeout: Any = None) -> bool:
        """It is done."""
        return True

    def is_completed(self) -> bool:
        """It is done."""
        return True

    is_success = is_completed


class P2POp:
    """A message to another process; there is none."""

    def __init__(
        self, op: Any, tensor: Any, peer: Any = None, group: Any = None, tag: int = 0, group_peer: Any = None
    ) -> None:
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag


def _done(async_op: bool) -> Work | None:
    return Work() if async_op else None


def is_initialized() -> bool:
    """Is there a group of processes?"""
    return group.WORLD is not None


def is_gloo_available() -> bool:
    """Can processes communicate by sockets? A group of one needs no more."""
    return True


def _no() -> bool:
    """Is this way of communicating there? No."""
    return False


is_nccl_available = is_mpi_available = is_ucc_available = is_xccl_available = _no


def is_backend_available(backend: str) -> bool:
    """Is this way of communicating there?"""
    return backend.lower() == "gloo"


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Make the group of this one process. Sizes and numbers that are not given are in WORLD_SIZE and RANK."""
    if is_initialized():
        raise ArgumentValueError("trying to initialize the default process group twice!")
    name = "gloo" if backend in (None, "", "undefined") else Backend(backend.split(":")[-1])  # type: ignore[union-attr]
    if name == "nccl":
        raise EngineError("Distributed package doesn't have NCCL built in")
    if name == "mpi":
        raise EngineError("Distributed package doesn't have MPI built in. clarion trains in one process")
    if world_size == -1 and store is None:
        world_size = _from_environment("WORLD_SIZE", init_method)
    if rank == -1 and store is None:
        rank = _from_environment("RANK", init_method)
    if world_size > 1 or rank > 0:
        raise NotSupportedError(
            f"torch.distributed.init_process_group: clarion trains in one process, and this would be one of {world_size} "
            f"(rank {rank}). Start the program once, without torchrun, or with world_size=1"
        )
    GroupMember.WORLD = group.WORLD = ProcessGroup(name, store)


def _from_environment(name: str, init_method: str | None) -> int:
    if init_method not in (None, "env://") or name in os.environ:
        return int(os.environ.get(name, -1))
    raise ArgumentValueError(
        f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, but not set"
    )


def destroy_process_group(group: Any = None) -> None:
    """There is no group any more."""
    world = _get_default_group()
    if group is None or group is world:
        GroupMember.WORLD = globals()["group"].WORLD = None


def _get_default_group() -> ProcessGroup:
    if group.WORLD is None:
        raise ArgumentValueError(
            "Default process group has not been initialized, please make sure to call init_process_group."
        )
    return group.WORLD


def new_group(ranks: Any = None, *args: Any, **options: Any) -> ProcessGroup:
    """A group of some of the processes: of the one there is."""
    world = _get_default_group()
    if ranks is not None and list(ranks) != [0]:
        raise ArgumentValueError(f"new_group: there is one process, with rank 0; got {list(ranks)}")
    return ProcessGroup(world._backend)


def new_subgroups(*args: Any, **options: Any) -> tuple[ProcessGroup, list[ProcessGroup]]:
    """Groups of some processes each: one group of one."""
    made = new_group()
    return made, [made]


def get_rank(group: Any = None) -> int:
    """The number of this process."""
    _get_default_group()
    return 0


def get_world_size(group: Any = None) -> int:
    """How many processes there are."""
    _get_default_group()
    return 1


def get_backend(group: Any = None) -> str:
    """The way of communicating."""
    return _get_default_group()._backend


def get_group_rank(group: Any, global_rank: int) -> int:
    """The number in a group of a process that has this number among all."""
    return _only(global_rank)


def get_global_rank(group: Any, group_rank: int) -> int:
    """The number among all of a process that has this number in a group."""
    return _only(group_rank)


def get_process_group_ranks(group: Any) -> list[int]:
    """The numbers of all processes of a group."""
    return [0]


def _only(rank: int | None) -> int:
    """The rank of another process in an exchange, which can only be this one."""
    _get_default_group()
    if rank not in (0, None):
        raise ArgumentValueError(f"rank {rank}: there is one process, with rank 0")
    return 0


# Exchanges: with oneself ---------------------------------------------------------------------------


def _copy(target: Any, source: Any) -> None:
    with no_grad():
        target.copy_(source)


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """The sum (product, …) over one process: the tensor stays as it is."""
    _get_default_group()
    return _done(async_op)


def broadcast(
    tensor: Tensor, src: Any = None, group: Any = None, async_op: bool = False, group_src: Any = None
) -> Work | None:
    """The tensor of process `src`, which is this one."""
    _only(group_src if src is None else src)
    return _done(async_op)


def reduce(
    tensor: Tensor,
    dst: Any = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: Any = None,
) -> Work | None:
    """The sum over one process."""
    _only(group_dst if dst is None else dst)
    return _done(async_op)


def all_gather(tensor_list: Sequence[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """The tensors of all processes, in a list: this one's."""
    _get_default_group()
    for target in tensor_list:
        _copy(target, tensor)
    return _done(async_op)


def gather(
    tensor: Tensor,
    gather_list: Any = None,
    dst: Any = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: Any = None,
) -> Work | None:
    """The tensors of all processes, in a list of one of them."""
    _only(group_dst if dst is None else dst)
    return all_gather(gather_list or (), tensor, group, async_op)


def scatter(
    tensor: Tensor,
    scatter_list: Any = None,
    src: Any = None,
    group: Any = None,
    async_op: bool = False,
    group_src: Any = None,
) -> Work | None:
    """Each process gets one tensor of a list."""
    _only(group_src if src is None else src)
    _copy(tensor, scatter_list[0])
    return _done(async_op)


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Each process gets the sum of one tensor of the lists."""
    return scatter(output, input_list, 0, group, async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """The tensors of all processes one after the other."""
    _get_default_group()
    _copy(output_tensor, input_tensor.reshape(output_tensor.shape))  # type: ignore[attr-defined]
    return _done(async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Each process gets the sum of its part of the tensors."""
    return all_gather_into_tensor(output, input, group, async_op)


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: Any = None, async_op: bool = False
) -> Work | None:
    """Each process sends one tensor to each."""
    return all_gather(output_tensor_list, input_tensor_list[0], group, async_op)


def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Each process sends one part of its tensor to each."""
    return all_gather_into_tensor(output, input, group, async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait for all processes: there is one."""
    _get_default_group()
    return _done(async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """Wait for all processes, and say who is late: there is one."""
    _get_default_group()


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """The objects of all processes."""
    _get_default_group()
    object_list[:] = [copy.deepcopy(obj)] * len(object_list)


def gather_object(
    obj: Any, object_gather_list: Any = None, dst: Any = None, group: Any = None, group_dst: Any = None
) -> None:
    """The objects of all processes, in a list of one of them."""
    all_gather_object(object_gather_list, obj, group)


def broadcast_object_list(
    object_list: list[Any],
    src: Any = None,
    group: Any = None,
    device: Any = None,
    group_src: Any = None,
    **options: Any,
) -> None:
    """The objects of process `src`, which is this one."""
    _only(group_src if src is None else src)


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: Any = None, src: Any = None, group: Any = None,
    group_src: Any = None,
) -> None:  # fmt: skip
    """Each process gets one object of a list."""
    _only(group_src if src is None else src)
    scatter_object_output_list[0] = scatter_object_input_list[0]


def _rank_not_in_group(group: Any) -> bool:
    return group is GroupMember.NON_GROUP_MEMBER


__getattr__ = rest(__name__)


def is_torchelastic_launched() -> bool:
    """Was the program started by torchrun?"""
    return "TORCHELASTIC_RUN_ID" in os.environ
