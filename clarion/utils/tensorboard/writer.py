"""Writing event files that TensorBoard reads."""

from __future__ import annotations

import os
import socket
import time
from datetime import datetime
from typing import Any, NoReturn

from tensorboard.compat.proto import event_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from ...errors import ArgumentTypeError, NotSupportedError
from . import summary


class FileWriter:
    """One event file in a folder."""

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a summary."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Write what is waiting."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what is waiting, and close the file."""
        self.event_writer.close()


class SummaryWriter:
    """Writes numbers, histograms, pictures and text of a training for TensorBoard."""

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self._options = (max_queue, flush_secs, filename_suffix)
        self.default_bins = summary.BINS
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The writer; a new one after `close()`."""
        if self.file_writer is None or self.all_writers is None:
            self.file_writer = FileWriter(self.log_dir, *self._options)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                log = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
                self.file_writer.add_event(event_pb2.Event(step=self.purge_step, file_version="brain.Event:2"))
                self.file_writer.add_event(event_pb2.Event(step=self.purge_step, session_log=log))
                self.purge_step = None
        return self.file_writer

    def get_logdir(self) -> Any:
        """The folder."""
        return self.log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write one number."""
        record = summary.scalar(tag, scalar_value, new_style, double_precision)
        self._get_file_writer().add_summary(record, global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Write several numbers that belong into one chart: each has a folder of its own."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            name = f"{folder}/{main_tag.replace('/', '_')}_{tag}"
            if name not in self.all_writers:
                self.all_writers[name] = FileWriter(name, *self._options)
            self.all_writers[name].add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Write how values are spread."""
        limits = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._get_file_writer().add_summary(summary.histogram(tag, values, limits, max_bins), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Write a picture."""
        self._get_file_writer().add_summary(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Write several pictures beside each other."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Write a figure of matplotlib, or a list of them."""
        order = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, summary.figure_to_image(figure, close), global_step, walltime, order)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Write some text (Markdown)."""
        self._get_file_writer().add_summary(summary.text(tag, text_string), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, Any] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Write hyperparameters, and what they led to."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise ArgumentTypeError("hparam_dict and metric_dict should be dictionary.")
        records = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for record in records:
                writer._get_file_writer().add_summary(record, global_step)
            for tag, value in metric_dict.items():
                writer.add_scalar(tag, value, global_step)

    def flush(self) -> None:
        """Write what is waiting."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write what is waiting, and close the files."""
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refused(name: str, why: str) -> Any:
    def method(self: SummaryWriter, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotSupportedError(f"clarion does not have SummaryWriter.{name}: {why}")

    method.__name__ = name
    method.__doc__ = f"Not there: {why}."
    return method


_WHY = {
    "add_graph": "programs are not traced into graphs",
    "add_onnx_graph": "models are not exported to ONNX",
    "add_video": "write single pictures with add_images",
    "add_audio": "write a file with scipy.io.wavfile",
    "add_embedding": "save the vectors with torch.save",
    "add_pr_curve": "draw it with matplotlib, and write it with add_figure",
    "add_custom_scalars": "use add_scalars",
    "add_mesh": "write pictures with add_images",
}
for _name, _why in _WHY.items():
    setattr(SummaryWriter, _name, _refused(_name, _why))
