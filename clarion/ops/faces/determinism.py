"""What `use_deterministic_algorithms` asked for, and the operations that PyTorch refuses under it."""

from __future__ import annotations

from ...core.provenance import warn_user
from ...errors import EngineError


class Asked:
    """`on`: results must be the same each time; `warn_only`: say so instead of refusing."""

    on = False
    warn_only = False


asked = Asked()


def alert(name: str) -> None:
    """Refuse, as PyTorch does, what need not give the same numbers each time when places are written twice."""
    if not asked.on:
        return
    text = f"{name} does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True"
    if asked.warn_only:
        warn_user(f"{text}, warn_only=True)'.")
        return
    raise EngineError(
        f"{text})'. You can turn off determinism just for this operation, or you can use the 'warn_only=True' option, if "
        "that's acceptable for your application."
    )
