"""Short-time Fourier transforms: stft, and istft, which undoes it."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...errors import DtypeError, EngineError, ShapeError
from ...kernels.batched.levels import all_samples
from ..faces.api import FUNCTIONS, NN_FUNCTIONAL, public
from ..faces.autocast import autocast
from ..faces.options import tensor_argument, warn_user
from . import fourier


def _length_of_hop(n_fft: int, hop_length: int | None, win_length: int | None) -> tuple[int, int]:
    return n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length


def _fitted(window: Any, win_length: int, n_fft: int, like: Any) -> Any:
    """The window in the middle of a frame; a rectangle if there is none."""
    if window is None:
        if win_length == n_fft:
            return None
        window = FUNCTIONS["ones"](win_length, dtype=like.real.dtype if like.is_complex() else like.dtype)
    left = (n_fft - win_length) // 2
    return NN_FUNCTIONAL["pad"](window, (left, n_fft - win_length - left)) if win_length < n_fft else window


def _described(name: str, input: Any, **values: Any) -> str:
    """The call, as PyTorch's messages begin."""
    given = [
        f"{key}={'None' if v is None else list(v.shape) if isinstance(v, Tensor) else v}" for key, v in values.items()
    ]
    return f"{name}({list(input.shape)}, {', '.join(given)})"


@public()
@autocast("float32")
def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The Fourier transforms of overlapping frames: (batch, frequency, frame)."""
    signal = tensor_argument("stft", input)
    hop, length = _length_of_hop(n_fft, hop_length, win_length)
    is_complex = signal.is_complex() or (window is not None and window.is_complex())  # type: ignore[attr-defined]
    _check_return(signal, window, return_complex)
    if align_to_window is not None and center:
        raise EngineError("stft align_to_window should only be set when center = false")
    if center:
        flat = signal.reshape(1, *signal.shape) if signal.dim() < 2 else signal  # type: ignore[attr-defined]
        padded = NN_FUNCTIONAL["pad"](flat, (n_fft // 2, n_fft // 2), mode=pad_mode)
        signal = padded.reshape(*signal.shape[:-1], padded.shape[-1])
    call = _described("stft", signal, n_fft=n_fft, hop_length=hop, win_length=length, window=window)
    _check_stft(call, signal, n_fft, hop, length, window)
    if onesided and is_complex:
        raise EngineError("Cannot have onesided output if window or input is complex")
    batch: Any = signal if signal.dim() == 2 else signal.unsqueeze(0)  # type: ignore[attr-defined]
    frames = batch.unfold(-1, n_fft, hop)
    fitted = _fitted(window, length, n_fft, batch)
    frames = frames if fitted is None else frames * fitted
    halves = not is_complex if onesided is None else onesided
    transform = fourier.fft if is_complex else fourier.rfft if halves else fourier.fft
    result = transform(frames, None, -1, "ortho" if normalized else None).transpose(1, 2)
    result = result if signal.dim() == 2 else result.squeeze(0)  # type: ignore[attr-defined]
    wanted = is_complex if return_complex is None else return_complex
    return result if wanted else FUNCTIONS["view_as_real"](result)  # type: ignore[no-any-return]


def _check_return(signal: Any, window: Any, return_complex: bool | None) -> None:
    if window is None:
        warn_user(
            "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. Other "
            "windows such as torch.hann_window or torch.hamming_window are recommended to reduce spectral leakage.To suppress "
            "this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
        )
    if return_complex is None and not signal.is_complex() and not (window is not None and window.is_complex()):
        raise EngineError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    if return_complex is False:
        warn_user(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors for "
            "all inputs, and return_complex=False will raise an error.\nNote: you can still call torch.view_as_real on the "
            "complex output to recover the old return format."
        )


def _check_stft(call: str, signal: Any, n_fft: int, hop: int, length: int, window: Any) -> None:
    """Refuse what makes no sense, in PyTorch's order."""
    if not (signal.is_floating_point() or signal.is_complex()):
        raise DtypeError(f"{call} : expected a tensor of floating point or complex values")
    if signal.dim() not in (1, 2):
        raise ShapeError(f"{call} : expected a 1D or 2D tensor")
    size = signal.shape[-1]
    if not 0 < n_fft <= size:
        raise ShapeError(f"{call} : expected 0 < n_fft < {size}, but got n_fft={n_fft}")
    if hop <= 0:
        raise ShapeError(f"{call} : expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise ShapeError(f"{call} : expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and tuple(window.shape) != (length,):
        raise ShapeError(
            f"{call} : expected a 1D window tensor of size equal to win_length={length}, but got window with size "
            f"{list(window.shape)}"
        )


# And back --------------------------------------------------------------------------------------------------


@public()
def istft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose short-time Fourier transform this is."""
    spectrum: Any = tensor_argument("istft", input)
    hop, win = _length_of_hop(n_fft, hop_length, win_length)
    if window is None:
        warn_user(
            "A window was not provided. A rectangular window will be applied.Please provide the same window used by stft to "
            "make the inversion lossless.To suppress this warning and use a rectangular window, explicitly set "
            "`window=torch.ones(n_fft, device=<device>)`."
        )
    halves = _check_istft(spectrum, n_fft, hop, win, window, onesided, return_complex)
    batch = spectrum if spectrum.dim() == 3 else spectrum.unsqueeze(0)
    frames, norm = batch.transpose(1, 2), "ortho" if normalized else None
    if return_complex:
        frames = fourier.ifft(frames, None, -1, norm)
    else:
        frames = fourier.irfft(frames if halves else frames[..., : n_fft // 2 + 1], n_fft, -1, norm)
    real = frames.real if return_complex else frames
    fitted = _fitted(window, win, n_fft, real)
    fitted = real.new_ones(n_fft) if fitted is None else fitted
    signal = _overlapped(frames * fitted, hop)
    weight = _overlapped((fitted * fitted).expand(1, frames.shape[1], n_fft), hop)
    begin = n_fft // 2 if center else 0
    whole = signal.shape[-1]
    end = begin + length if length is not None else whole - n_fft // 2 if center else whole
    signal, weight = signal[..., begin : min(end, whole)], weight[..., begin : min(end, whole)]
    least = abs(all_samples(weight._array)).min().item()
    if least < 1e-11:
        raise EngineError(
            f"{_described('istft', spectrum, n_fft=n_fft, hop_length=hop, win_length=win, window=window, center=center)} "
            f"window overlap add min: {least}\nThe windows leave gaps: choose a smaller hop_length, or another window."
        )
    signal = signal / weight
    if end > whole:
        warn_user(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings."
        )
        signal = NN_FUNCTIONAL["pad"](signal, (0, end - whole))
    return signal if spectrum.dim() == 3 else signal.squeeze(0)  # type: ignore[no-any-return]


def _overlapped(frames: Any, hop: int) -> Any:
    """Frames added up, each `hop` after the one before."""
    if frames.is_complex():
        return FUNCTIONS["complex"](_overlapped(frames.real, hop), _overlapped(frames.imag, hop))
    count, size = frames.shape[1:]
    whole = size + hop * (count - 1)
    folded = NN_FUNCTIONAL["fold"](frames.transpose(1, 2), (1, whole), (1, size), stride=(1, hop))
    return folded.reshape(frames.shape[0], whole)


def _check_istft(
    spectrum: Any, n_fft: int, hop: int, win: int, window: Any, onesided: bool | None, return_complex: bool
) -> bool:
    """Refuse what makes no sense, in PyTorch's order; does the spectrum hold only the first half?"""
    if not spectrum.is_complex():
        raise DtypeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    call = _described("istft", spectrum, n_fft=n_fft, hop_length=hop, win_length=win, window=window)
    if spectrum.numel() == 0:
        raise ShapeError(f"{call} : input tensor cannot be empty.")
    if spectrum.dim() not in (2, 3):
        raise ShapeError(f"{call} : expected a tensor with 3 or 4 dimensions, but got {spectrum.dim() + 1}")
    bins = spectrum.shape[-2]
    halves = bins != n_fft if onesided is None else onesided
    expected = n_fft // 2 + 1 if halves else n_fft
    if bins != expected:
        raise ShapeError(
            f"{call} : expected the frequency dimension (3rd to the last) of the input tensor to match n_fft "
            f"{'/ 2 + 1 ' if halves else ''}when onesided={halves!s}, but got {bins}"
        )
    if not 0 < hop <= win:
        raise ShapeError(f"{call} : expected 0 < hop_length <= win_length")
    if not 0 < win <= n_fft:
        raise ShapeError(f"{call} : expected 0 < win_length <= n_fft")
    if window is not None and tuple(window.shape) != (win,):
        raise ShapeError(f"{call} : Invalid window shape. window has to be 1D and length of `win_length`")
    if return_complex and halves:
        raise EngineError("Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window.is_complex():
        raise EngineError("Complex windows are incompatible with return_complex=False")
    return halves
