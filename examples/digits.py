"""The handwritten digits that ship with clarion, as NumPy arrays: not an example itself, only what several of them read."""

from pathlib import Path

import numpy as np

FILE = Path(__file__).resolve().parent.parent / "clarion" / "assets" / "digits.npz"


def load_digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training images (1500, 64) between 0 and 1 and their labels; test images (297, 64) and theirs."""
    with np.load(FILE) as data:
        images = data["images"].reshape(-1, 64).astype(np.float32) / 16
        labels = data["labels"].astype(np.int64)
    return images[:1500], labels[:1500], images[1500:], labels[1500:]


def draw(image: np.ndarray) -> str:
    """An image of 64 values between 0 and 1 in characters, two per pixel."""
    shades = (image.clip(0, 1) * 9.99).astype(int).reshape(8, 8)
    return "\n".join("".join(" .:-=+*#%@"[shade] * 2 for shade in row) for row in shades)
