"""The README's table, made from the figures that are kept: `python -m benchmarks.table` writes it between its markers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from .stored import load

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"

# What the README shows, in its words.
SHOWN = {
    "chain_forward": "100 small operations, recorded",
    "chain_forward_backward": "the same, and back",
    "seeds_training_loop": "training loop of a linear model",
    "mlp_tiny_no_grad": "tiny network, inference",
    "mlp_tiny_training": "tiny network, training",
    "mlp_large_training": "large network, training",
    "transformer_training": "transformer",
    "transformer_checkpointed": "transformer, checkpointed",
    "character_gpt": "character GPT",
    "cnn_training": "convolutional network",
    "lstm_training": "LSTM",
    "elementwise_chain": "100,000 numbers, element by element",
    "optim_AdamW_large": "AdamW, a million numbers",
    "gradient_penalty": "gradient penalty",
    "gradcheck": "gradcheck",
}


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))


def ratios(figures: dict[str, Any], kind: str = "wall") -> dict[str, float]:
    """How many times as fast as PyTorch, for the workloads that are shown and were measured."""
    found = {}
    for name in SHOWN:
        times = figures.get("workloads", {}).get(name)
        if times is not None and "torch" in times:
            found[name] = times["torch"][kind] / times["clarion"][kind]
    return found


def _time(microseconds: float) -> str:
    return f"{microseconds:.0f} µs" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"


def table(figures: dict[str, Any]) -> str:
    """The table, as Markdown."""
    machine, wall, processor = figures["machine"], ratios(figures), ratios(figures, "processor")
    lines = ["| a step of | clarion | PyTorch | times as fast | of processor time |", "|---|--:|--:|--:|--:|"]
    for name, ratio in wall.items():
        times = figures["workloads"][name]
        shown = [_time(times[library]["wall"]) for library in ("clarion", "torch")]
        lines.append(f"| {SHOWN[name]} | {shown[0]} | {shown[1]} | {ratio:.2f} | {processor[name]:.2f} |")
    means = [mean(list(each.values())) for each in (wall, processor)]
    lines.append(f"| **geometric mean** | | | **{means[0]:.2f}** | **{means[1]:.2f}** |")
    threads = "one thread" if machine["threads"] == 1 else f"{machine['threads']} threads"
    where = f"{machine['processor']}, {threads} each, Python {machine['python']}"
    lines += ["", f"Wall clock beside PyTorch 2.13 eager, alternating in one process ({where})."]
    compiled = _compiled(figures)
    if compiled:
        lines += ["", *compiled]
    footprint = figures.get("footprint", {})
    if footprint:
        lines += ["", _footprint(footprint)]
    cost = figures.get("diagnoses")
    if cost:
        shown = ", ".join(f"{percent:+.1f} % ({SHOWN.get(name, name)})" for name, percent in cost.items())
        lines += ["", f"What the diagnoses cost late in a training: {shown}."]
    return "\n".join(lines)


def _compiled(figures: dict[str, Any]) -> list[str]:
    kinds = ("clarion", "clarion compiled", "torch", "PyTorch compiled", "JAX jitted")
    rows = []
    for name in SHOWN:
        times = figures.get("workloads", {}).get(name, {})
        if "clarion compiled" in times:
            shown = [_time(times[kind]["wall"]) if kind in times else "" for kind in kinds]
            rows.append(f"| {SHOWN[name]} | {' | '.join(shown)} |")
    if not rows:
        return []
    head = "| compiled whole | clarion | compiled | PyTorch | compiled | JAX jitted |"
    return [head, "|---|--:|--:|--:|--:|--:|", *rows]


def _footprint(footprint: dict[str, Any]) -> str:
    parts = []
    for name, title in (("clarion", "clarion"), ("torch", "PyTorch")):
        if name in footprint:
            f = footprint[name]
            memory = f["peak MB of a transformer's training"]
            parts.append(
                f"{title} imports in {f['import seconds']:.2f} s, takes {f['installed MB']:.0f} MB on disk "
                f"and {memory:.0f} MB of memory to train the transformer"
            )
    return "; ".join(parts) + "."


def written(text: str, figures: dict[str, Any]) -> str:
    """A README with the table between its markers."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table(figures)}\n{END}{rest.split(END)[1]}"


def main() -> int:
    """Write the README."""
    README.write_text(written(README.read_text(), load()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
