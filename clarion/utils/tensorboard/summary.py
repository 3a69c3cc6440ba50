"""Numbers, histograms, images, text and hyperparameters as the records of TensorBoard."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.hparams.api_pb2 import DataType, Experiment, HParamInfo, MetricInfo, MetricName, Status
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo, SessionStartInfo
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, ArgumentValueError, NotSupportedError

# Bounds of histograms: each a tenth above the one before.
_POSITIVE = np.cumprod([1e-12, *[1.1] * 773]).tolist()  # up to 1e20
BINS = [-v for v in reversed(_POSITIVE)] + [0.0] + _POSITIVE


def as_array(value: Any) -> Any:
    """A tensor, an array or a number as an array."""
    if isinstance(value, Tensor):
        array = value.detach()._array  # type: ignore[attr-defined]
        return array if array.dtype.kind in "biufc" else array.astype(np.float32)
    if isinstance(value, np.ndarray):
        return value
    if np.isscalar(value):
        return np.array([value])
    raise NotSupportedError(f"Got {type(value)}, but numpy array or torch tensor are expected.")


def _summary(tag: str, **content: Any) -> Any:
    return Summary(value=[Summary.Value(tag=tag, **content)])


def _metadata(plugin: str, content: bytes = b"") -> Any:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=content))


def scalar(tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    """One number."""
    array = as_array(value).squeeze()
    if array.ndim != 0:
        raise AssertionError(
            f"Tensor should contain one element (0 dimensions). Was given size: {array.size} and {array.ndim} dimensions."
        )
    number = float(array)
    if not new_style:
        return _summary(tag, simple_value=number)
    proto = TensorProto(float_val=[number], dtype="DT_FLOAT")
    if double_precision:
        proto = TensorProto(double_val=[number], dtype="DT_DOUBLE")
    return _summary(tag, tensor=proto, metadata=_metadata("scalars"))


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """How often values lie between bounds, from the first bound that matters to the last."""
    flat = as_array(values).astype(float).reshape(-1)
    if flat.size == 0:
        raise ArgumentValueError("The input has no element.")
    counts, limits = np.histogram(flat, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        counts, limits = _coarser(counts, limits, len(counts) // max_bins)
    there = np.flatnonzero(counts)
    first, last = int(there[0]), int(there[-1]) + 1
    # A bin has only its upper bound: an empty one before the first says where that begins.
    shown = np.concatenate([[0], counts[first:last]])
    proto = HistogramProto(
        min=flat.min(),
        max=flat.max(),
        num=len(flat),
        sum=flat.sum(),
        sum_squares=flat.dot(flat),
        bucket_limit=limits[first : last + 1].tolist(),
        bucket=shown.tolist(),
    )
    return _summary(tag, histo=proto)


def _coarser(counts: Any, limits: Any, together: int) -> tuple[Any, Any]:
    """So many neighbouring bins put together."""
    rest = len(counts) % together
    if rest:
        counts = np.pad(counts, (0, together - rest))
    return counts.reshape(-1, together).sum(axis=-1), np.append(limits[:-1:together], limits[-1])


def text(tag: str, words: str) -> Any:
    """Some text (Markdown)."""
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
    proto = TensorProto(dtype="DT_STRING", string_val=[words.encode()], tensor_shape=shape)
    metadata = _metadata("text", TextPluginData(version=0).SerializeToString())
    return _summary(f"{tag}/text_summary", metadata=metadata, tensor=proto)


# Images ------------------------------------------------------------------------------------------------------


def image(tag: str, tensor: Any, dataformats: str) -> Any:
    """A picture, or several beside each other: bytes from 0 to 255, other numbers from 0 to 1."""
    from PIL import Image

    pixels = _as_picture(as_array(tensor), dataformats.upper())
    scaled = pixels.astype(np.float32) * (1 if pixels.dtype == np.uint8 else 255)
    pixels = scaled.clip(0, 255).astype(np.uint8)
    height, width, channels = pixels.shape
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    proto = Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue())
    return _summary(tag, image=proto)


def _as_picture(array: Any, order: str) -> Any:
    """Height, width, channels; one channel becomes three, several pictures a grid."""
    if len(set(order)) != len(order):
        raise AssertionError(f"You can not use the same dimension shorthand twice. input_format: {order}")
    if array.ndim != len(order):
        raise AssertionError(
            f"size of input tensor and input format are different. tensor shape: {array.shape}, input_format: {order}"
        )
    if len(order) == 2:
        array, order = array[..., None], order + "C"
    if len(order) == 4:
        array, order = _grid(array.transpose([order.index(c) for c in "NCHW"])), "CHW"
    array = array.transpose([order.index(c) for c in "HWC"])
    return np.concatenate([array] * 3, 2) if array.shape[2] == 1 else array


def _grid(pictures: Any, columns: int = 8) -> Any:
    """Pictures in rows of eight."""
    count, channels, height, width = pictures.shape
    columns = min(count, columns)
    rows = -(-count // columns)
    sheet = np.zeros((rows * columns, channels, height, width), pictures.dtype)
    sheet[:count] = pictures
    sheet = sheet.reshape(rows, columns, channels, height, width)
    return sheet.transpose(2, 0, 3, 1, 4).reshape(channels, rows * height, columns * width)


def figure_to_image(figures: Any, close: bool = True) -> Any:
    """A figure of matplotlib, or a list of them, as pixels: channels, height, width."""
    import matplotlib.pyplot as plt
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if isinstance(figures, list):
        return np.stack([figure_to_image(figure, close) for figure in figures])
    canvas = FigureCanvasAgg(figures)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3].transpose(2, 0, 1).copy()
    if close:
        plt.close(figures)
    return pixels


# Hyperparameters ---------------------------------------------------------------------------------------------


def _hparams_summary(tag: str, **content: Any) -> Any:
    data = HParamsPluginData(version=hparams_metadata.PLUGIN_DATA_VERSION, **content)
    return _summary(tag, metadata=_metadata(hparams_metadata.PLUGIN_NAME, data.SerializeToString()))


def hparams(
    given: dict[str, Any], metrics: dict[str, Any], domains: dict[str, Any] | None = None
) -> tuple[Any, Any, Any]:
    """What was tried, as three records: the experiment, its beginning, its end."""
    domains = domains or {}
    if not isinstance(domains, dict):
        raise ArgumentTypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for name, values in domains.items():
        if (
            name not in given
            or not isinstance(values, list)
            or not all(isinstance(v, type(given[name])) for v in values)
        ):
            raise ArgumentTypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as hparam_dict[{name}]."
            )
    infos, start = [], SessionStartInfo()
    for name, value in given.items():
        if value is None:
            continue
        if isinstance(value, Tensor):
            value = float(as_array(value).reshape(-1)[0])
        if not isinstance(value, (int, float, str)):
            raise ArgumentValueError("value should be one of int, float, str, bool, or torch.Tensor")
        field, kind = (
            ("string_value", "DATA_TYPE_STRING") if isinstance(value, str) else ("number_value", "DATA_TYPE_FLOAT64")
        )
        setattr(start.hparams[name], field, value)
        domain = None
        if name in domains:
            domain = struct_pb2.ListValue(values=[struct_pb2.Value(**{field: v}) for v in domains[name]])
        infos.append(HParamInfo(name=name, type=DataType.Value(kind), domain_discrete=domain))
    experiment = Experiment(hparam_infos=infos, metric_infos=[MetricInfo(name=MetricName(tag=tag)) for tag in metrics])
    return (
        _hparams_summary(hparams_metadata.EXPERIMENT_TAG, experiment=experiment),
        _hparams_summary(hparams_metadata.SESSION_START_INFO_TAG, session_start_info=start),
        _hparams_summary(
            hparams_metadata.SESSION_END_INFO_TAG,
            session_end_info=SessionEndInfo(status=Status.Value("STATUS_SUCCESS")),
        ),
    )
