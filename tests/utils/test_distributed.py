"""torch.distributed is a group of one process: programs for several run alone, and more than one is refused."""

from __future__ import annotations

import pytest

import clarion
import clarion.distributed as dist
from clarion.errors import NotSupportedError
from clarion.torch_alias import alias


@pytest.fixture
def world():
    dist.init_process_group("gloo", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_programs_that_ask_go_on_alone():
    assert dist.is_available()
    assert not dist.is_initialized()
    assert not dist.is_nccl_available()
    assert not clarion.distributed.is_torchelastic_launched()
    assert (dist.get_rank() if dist.is_initialized() else 0) == 0


@pytest.mark.parametrize("name", ["get_rank", "get_world_size", "barrier"])
def test_there_is_no_group(name):
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        getattr(dist, name)()


def test_more_than_one_process_is_refused():
    with pytest.raises(NotSupportedError, match="clarion trains in one process, and this would be one of 2"):
        dist.init_process_group("gloo", rank=0, world_size=2)
    with pytest.raises(RuntimeError, match="doesn't have NCCL built in"):
        dist.init_process_group("nccl", rank=0, world_size=1)
    assert not dist.is_initialized()


def test_what_is_not_there_refuses_when_it_is_used():
    with alias():
        from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy

        assert callable(ShardingStrategy.FULL_SHARD)  # can be named, as a default
        with pytest.raises(NotSupportedError, match="training runs in one process"):
            FullyShardedDataParallel(None)


def test_exchanges_with_oneself(world):
    x = clarion.arange(3.0)
    assert dist.all_reduce(x) is None
    assert dist.all_reduce(x, async_op=True).wait()
    dist.broadcast(x, src=0)
    parts = [clarion.zeros(3)]
    dist.all_gather(parts, x)
    flat = clarion.zeros(1, 3)
    dist.all_gather_into_tensor(flat, x)
    found = [None]
    dist.all_gather_object(found, {"a": 1})
    assert (parts[0].tolist(), flat.tolist(), found) == ([0.0, 1.0, 2.0], [[0.0, 1.0, 2.0]], [{"a": 1}])
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")
    with pytest.raises(ValueError, match="there is one process"):
        dist.broadcast(x, src=1)


def test_a_wrapped_module_trains(world):
    clarion.manual_seed(0)
    model = clarion.nn.parallel.DistributedDataParallel(clarion.nn.Linear(3, 1))
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
    with model.no_sync():
        model(clarion.ones(2, 3)).sum().backward()
    assert model.module.weight.grad.tolist() == [[2.0, 2.0, 2.0]]


def test_a_wrapper_needs_a_group():
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        clarion.nn.parallel.DistributedDataParallel(clarion.nn.Linear(3, 1))


def test_samplers_ask_the_group(world):
    data = clarion.utils.data.TensorDataset(clarion.arange(4))
    assert sorted(clarion.utils.data.DistributedSampler(data)) == [0, 1, 2, 3]


@pytest.mark.compare
def test_pytorch_refuses_alike_without_a_group():
    theirs = pytest.importorskip("torch.distributed", reason="compares with PyTorch")
    for name in ("get_rank", "get_world_size", "barrier", "get_backend"):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            getattr(theirs, name)()


def test_states_have_the_names_of_the_parameters_whatever_wraps_the_module():
    from clarion.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict

    def made():
        model = clarion.nn.Sequential(clarion.nn.Linear(2, 3), clarion.nn.Linear(3, 1))
        return model, clarion.optim.AdamW(
            [{"params": model[1].parameters(), "lr": 0.5}, {"params": model[0].parameters()}]
        )

    model, optimizer = made()
    model(clarion.ones(1, 2)).sum().backward()
    optimizer.step()
    state, steps = get_state_dict(clarion.compile(model), optimizer, options=StateDictOptions(cpu_offload=True))
    assert list(state) == list(model.state_dict())
    assert steps["param_groups"][0]["params"] == ["1.weight", "1.bias"]
    other, its_optimizer = made()
    its_optimizer.param_groups[0]["lr"] = 0.1
    keys = set_state_dict(other, its_optimizer, model_state_dict=state, optim_state_dict=steps)
    assert not keys.missing_keys
    assert not keys.unexpected_keys
    assert clarion.equal(other[0].weight, model[0].weight)
    assert its_optimizer.param_groups[0]["lr"] == 0.5
    assert clarion.equal(its_optimizer.state[other[0].bias]["exp_avg"], optimizer.state[model[0].bias]["exp_avg"])
