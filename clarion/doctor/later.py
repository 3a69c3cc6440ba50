"""Numbers of a GPU that are read a step later (`clarion/mail.py`), as PyTorch copies them.

While the session listens closely the values themselves are read (`close`), which waits.
"""

from __future__ import annotations

from typing import Any

import torch

from ..mail import Post

close = True  # set by `listening`


def _room(result: Any) -> tuple[Any, Any]:
    return torch.empty(result.shape, dtype=result.dtype, pin_memory=True), torch.cuda.Event()


def _copy(result: Any, memory: Any, event: Any) -> None:
    memory.copy_(result, non_blocking=True)
    event.record(torch.cuda.current_stream(result.device))


post = Post(_room, _copy, lambda event: event.query(), lambda memory: memory.reshape(-1).tolist())
