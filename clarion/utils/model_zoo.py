"""`torch.utils.model_zoo`: older name of what `torch.hub` does."""

from ..hub import load_state_dict_from_url as load_url  # noqa: F401

try:
    from tqdm.auto import tqdm as tqdm
except ImportError:  # progress is not shown then

    class tqdm:  # type: ignore[no-redef]
        """A stand-in that shows nothing."""

        def __init__(self, *args: object, **kwargs: object) -> None: ...
        def update(self, n: int = 1) -> None:
            """Nothing to see."""

        def close(self) -> None:
            """Nothing to see."""

        def __enter__(self) -> "tqdm":
            return self

        def __exit__(self, *_: object) -> None: ...
