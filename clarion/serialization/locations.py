"""`map_location`: the device a storage was saved from, and the one it goes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.devices import CPU, device, find, is_available, kind_named
from ..errors import EngineError, NoDeviceError
from ..ops.creation.memory import UntypedStorage

MAP_LOCATION = Callable[[Any, str], Any] | device | str | dict[str, str] | None


class LoadedStorage(UntypedStorage):
    """A storage as `map_location` and registered packages see it: on the CPU."""

    device = CPU

    def __init__(self, root: Any) -> None:
        self._root = root

    def cpu(self) -> LoadedStorage:
        """Itself: it is there already."""
        return self

    def cuda(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: there is no such device."""
        return _restore(self, "cuda")


_packages: list[tuple[int, Callable[[Any], str | None], Callable[[Any, str], Any]]] = []


def register_package(
    priority: int, tagger: Callable[[Any], str | None], deserializer: Callable[[Any, str], Any]
) -> None:
    """Add a kind of location: `tagger(storage)` names it when saving, `deserializer(storage, location)` knows it when loading.

    Lower priorities come first; the first answer that is not None counts.
    """
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage: Any) -> str:
    """What a storage's location is called in the file."""
    for _, tagger, _ in _packages:
        if (found := tagger(storage)) is not None:
            return found
    return "cpu"


def _restore(storage: Any, location: str) -> Any:
    for _, _, deserializer in _packages:
        if (found := deserializer(storage, location)) is not None:
            return found
    if location == "cpu":
        return storage
    kind, _, number = location.partition(":")
    if kind == "meta" or (kind == "cuda" and is_available("cuda")):
        count = kind_named(kind).count() if number.isdigit() else 0
        if number.isdigit() and int(number) >= count:
            raise EngineError(
                f"Attempting to deserialize object on CUDA device {number} but torch.cuda.device_count() is {count}. Please use "
                "torch.load with map_location to map your storages to an existing device."
            )
        return LoadedStorage(find(kind).receive(storage._root))
    if kind in ("cuda", "xpu") and not is_available(kind):
        raise NoDeviceError(
            f"Attempting to deserialize object on a {kind.upper()} device but torch.{kind}.is_available() is False. If you "
            "are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
            f"storages to the CPU.\n{kind_named(kind).missing()}"
        )
    raise EngineError(
        f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {location[:80]})\n"
        "Load with map_location='cpu'."
    )


default_restore_location = _restore


def restorer(map_location: Any) -> Callable[[Any, str], Any]:
    """The function `(storage, location) -> storage` that a `map_location` argument stands for."""
    if map_location is None:
        return _restore
    if isinstance(map_location, dict):
        return lambda storage, location: _restore(storage, map_location.get(location, location))
    if isinstance(map_location, (str, bytes)):
        fixed = map_location if isinstance(map_location, str) else map_location.decode()
        return lambda storage, location: _restore(storage, fixed)
    if isinstance(map_location, device):
        return lambda storage, location: _restore(storage, str(map_location))

    def ask(storage: Any, location: str) -> Any:
        found = map_location(storage, location)
        return _restore(storage, location) if found is None else found

    return ask
