"""Numbers of a GPU arrive later: nobody waits, nothing is lost that has arrived, and memory is used again."""

from clarion.mail import Post


class _Result:
    def __init__(self, *values: float) -> None:
        self.values = list(values)
        self.shape, self.dtype = (len(values),), "float32"


class _Device:
    """Copies when it is told that it has got so far."""

    def __init__(self) -> None:
        self.rooms = 0
        self.pending: list = []

    def post(self) -> Post:
        return Post(
            self._room, lambda *copy: self.pending.append(copy), lambda event: bool(event), lambda memory: list(memory)
        )

    def _room(self, result):
        self.rooms += 1
        return [], []

    def catch_up(self) -> None:
        for result, memory, event in self.pending:
            memory[:], event[:] = result.values, ["done"]
        self.pending.clear()


def test_values_come_when_they_have_arrived():
    device = _Device()
    post = device.post()
    assert post.read("loss", _Result(1.0)) is None
    assert post.read("loss", _Result(2.0)) is None
    device.catch_up()
    assert post.read("loss", _Result(3.0)) == [2.0]
    assert post.read("other", _Result(9.0)) is None
    assert post.read("loss", _Result(1.0, 2.0)) is None  # of another shape


def test_a_device_that_lags_behind_is_not_flooded():
    device = _Device()
    post = device.post()
    for i in range(20):
        post.read("loss", _Result(float(i)))
    assert device.rooms == 4
    device.catch_up()
    assert post.read("loss", _Result(20.0)) == [3.0]
    assert device.rooms == 4  # its memory is used again


def test_what_was_read_at_once_is_known():
    post = _Device().post()
    post.know("loss", _Result(1.0), [5.0])
    assert post.read("loss", _Result(1.0)) == [5.0]
    post.forget()
    assert post.read("loss", _Result(1.0)) is None
