"""What is known of an optimizer stays behind where the program copies it, or writes it to a file."""

import copy
import pickle

import pytest

import clarion as torch


class Whole(torch.optim.SGD):
    """Writes all that it has."""

    def __getstate__(self):
        return self.__dict__


def _trained(optimizer, steps):
    (weight,) = optimizer.param_groups[0]["params"]
    for _ in range(steps):
        optimizer.zero_grad()
        (weight * 2).pow(2).sum().backward()
        optimizer.step()
    return weight.tolist()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_an_optimizer_is_copied_and_trains_on(copied):
    with torch.diagnose.watching() as findings:
        optimizer = Whole([torch.nn.Parameter(torch.ones(3))], lr=0.01)
        _trained(optimizer, 4)
        other = copied(optimizer)
        assert _trained(other, 6) == _trained(optimizer, 6)
    assert findings == []
    assert vars(other).get("_story") is not vars(optimizer)["_story"]
