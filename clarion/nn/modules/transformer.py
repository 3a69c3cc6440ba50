"""The decoder of the Transformer, and the whole of it. (The encoder stands next to its attention.)"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ...amp.settings import is_autocast_enabled
from ...compiler import is_compiling
from ...core import modes
from ...core.devices import visible
from ...core.provenance import warn_user
from ...core.tensor import Tensor
from ...errors import EngineError
from ...ops.faces.api import FUNCTIONS
from ...ops.layers import multihead
from ...ops.layers.multihead import canonical_mask
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .activation import GELU, ReLU
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .multihead_attention import MultiheadAttention
from .normalization import LayerNorm


class TransformerDecoderLayer(Module):
    """Self-attention, attention to the encoder's output, and two linear layers, each with a residual connection."""

    __constants__ = ["norm_first"]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[..., Any] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        attention: dict[str, Any] = {"dropout": dropout, "batch_first": batch_first, "bias": bias, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, device=device, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, device=device, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _get_activation_fn(activation)

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        """The layer's output, of the target's shape."""
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = tgt + self._sa_block(self.norm1(tgt), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(tgt + self._sa_block(tgt, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        out, _ = self.self_attn(
            x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal, need_weights=False
        )
        return self.dropout1(out)

    def _mha_block(self, x: Any, mem: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        out, _ = self.multihead_attn(
            x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal, need_weights=False
        )
        return self.dropout2(out)

    def _ff_block(self, x: Any) -> Any:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoder(Module):
    """A stack of copies of one decoder layer."""

    __constants__ = ["norm"]

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        """The output of the last layer, normalized if there is a `norm`."""
        causal = bool(tgt_is_causal) or (tgt_is_causal is None and tgt_mask is not None and is_causal_mask(tgt_mask))
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """Encoder and decoder."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[..., Any] = "relu",
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer: Module = TransformerEncoderLayer(*sizes, device=device, dtype=dtype)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            layer = TransformerDecoderLayer(*sizes, device=device, dtype=dtype)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        """The decoder's output for `tgt`, given the encoder's for `src`."""
        at = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(at) != tgt.size(at):
            raise EngineError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise EngineError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """-inf above the diagonal, 0 elsewhere: no position looks ahead."""
        return generate_square_subsequent_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for param in self.parameters():
            if param.dim() > 1:
                init.xavier_uniform_(param)


def _get_clones(module: Module, N: int) -> ModuleList:
    """Copies of a module, each with parameters of its own."""
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _get_activation_fn(activation: str | Callable[..., Any]) -> Callable[..., Any]:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise EngineError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)  # type: ignore[no-any-return]


class TransformerEncoderLayer(Module):
    """Self-attention and two linear layers, each with dropout, a residual connection and normalization."""

    __constants__ = ["norm_first"]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[..., Any] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, device=device, dtype=dtype
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, device=device, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, device=device, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _get_activation_fn(activation)
        relu = self.activation is F.relu or isinstance(self.activation, ReLU)
        gelu = self.activation is F.gelu or isinstance(self.activation, GELU)
        self.activation_relu_or_gelu = 1 if relu else 2 if gelu else 0

    def forward(
        self,
        src: Any,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Any:
        """The layer's output, of the input's shape."""
        other = None if src_mask is None else src_mask.dtype
        padding = canonical_mask(src_key_padding_mask, "src_key_padding_mask", other, "src_mask", src.dtype)
        mask = canonical_mask(src_mask, "src_mask", None, "", src.dtype, check_other=False)
        if self.norm_first:
            x = src + self._sa_block(self.norm1(src), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(src + self._sa_block(src, mask, padding, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        out, _ = self.self_attn(
            x, x, x, key_padding_mask=key_padding_mask, need_weights=False, attn_mask=attn_mask, is_causal=is_causal
        )
        return self.dropout1(out)

    def _ff_block(self, x: Any) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder(Module):
    """A stack of copies of one encoder layer."""

    __constants__ = ["norm"]

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        why_not = _why_not_packed(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not why_not
        if enable_nested_tensor and why_not:
            warn_user(f"enable_nested_tensor is True, but self.use_nested_tensor is False because {why_not}")

    def forward(
        self,
        src: Any,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Any:
        """The output of the last layer, normalized if there is a `norm`."""
        other = None if mask is None else mask.dtype
        padding = canonical_mask(src_key_padding_mask, "src_key_padding_mask", other, "mask", src.dtype)
        mask = canonical_mask(mask, "mask", None, "", src.dtype, check_other=False)
        causal = bool(is_causal) or (is_causal is None and mask is not None and is_causal_mask(mask))
        kept = None if padding is None or mask is not None else self._packed(src, padding)
        if kept is not None:
            padding = canonical_mask(~kept, "src_key_padding_mask", None, "", src.dtype)
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if kept is not None:
            src = src.masked_fill(~kept.unsqueeze(-1), 0.0)
        return src if self.norm is None else self.norm(src)

    def _packed(self, src: Tensor, padding: Tensor) -> Tensor | None:
        """Which places PyTorch packs together, where it does: see NOTE [Packed]."""
        first = self.layers[0]
        if not (multihead.fast and getattr(self, "use_nested_tensor", False)) or first.training or src.dim() != 3:
            return None
        tensors = (src, *first.parameters())
        if modes.recording() and any(each.requires_grad for each in tensors):
            return None
        if is_autocast_enabled() or not visible(src._array) or any(type(t) not in (Tensor, Parameter) for t in tensors):
            return None
        given = padding == 0
        if is_compiling() or not bool(
            (given | padding.isneginf()).all()
        ):  # (numbers to be added to scores hide nothing)
            return None
        kept = FUNCTIONS["arange"](given.shape[1], device=src.device) < given.sum(1, keepdim=True)
        if getattr(self, "mask_check", True) and not bool((kept == given).all()):
            return None
        return kept  # type: ignore[no-any-return]


def _why_not_packed(layer: Any) -> str:
    """NOTE [Packed]: a stack in evaluation that records nothing leaves padding out.

    PyTorch packs the samples of a batch without their padding then, and fills up with zeros what comes out of the last layer. Here
    layers compute all places, and those of the padding, which nobody attends to, become zeros in the end: the same numbers. What
    lies after the first hole in a sample would be lost, so samples with holes are not packed, unless nobody is to look (`mask_check`).
    """
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        "encoder_layer.norm_first was True": layer.norm_first,
        "encoder_layer.self_attn.batch_first was not True(use batch_first for better inference performance)": (
            not attention.batch_first
        ),
        "encoder_layer.self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        "encoder_layer.self_attn was passed bias=False": attention.in_proj_bias is None,
        "encoder_layer.activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        "encoder_layer.self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """-inf above the diagonal, 0 elsewhere: no position looks ahead."""
    return FUNCTIONS["full"]((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)  # type: ignore[no-any-return]


def is_causal_mask(mask: Tensor) -> bool:
    """Does a mask hide exactly what lies ahead?"""
    size = mask._array.shape[-2]
    wanted = generate_square_subsequent_mask(size)._array
    return mask._array.shape == wanted.shape and bool((mask._array == wanted).all())
