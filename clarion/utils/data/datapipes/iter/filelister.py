"""Files of folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import get_file_pathnames_from_root
from .utils import IterableWrapperIterDataPipe

__all__ = ["FileListerIterDataPipe"]


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe[str]):
    """The paths of the files of folders (functional name: ``list_files``)."""

    def __init__(
        self,
        root: str | Sequence[str] | IterDataPipe[Any] = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        super().__init__()
        roots = [root] if isinstance(root, str) else root
        self.datapipe = roots if isinstance(roots, IterDataPipe) else IterableWrapperIterDataPipe(roots)
        self.masks = masks
        self.recursive = recursive
        self.abspath = abspath
        self.non_deterministic = non_deterministic
        self.length = length

    def __iter__(self) -> Iterator[str]:
        how = self.masks, self.recursive, self.abspath, self.non_deterministic
        for path in self.datapipe:
            yield from get_file_pathnames_from_root(path, *how)

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length
