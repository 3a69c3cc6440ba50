"""torchmetrics: wrappers, trackers and collections around metrics, rankings, boxes, and what is kept of a metric."""

import pickle

import torch
import torchmetrics
from torchmetrics.detection import CompleteIntersectionOverUnion, PanopticQuality
from torchmetrics.regression import MeanSquaredError, R2Score
from torchmetrics.retrieval import RetrievalMAP, RetrievalMRR, RetrievalNormalizedDCG, RetrievalPrecisionRecallCurve
from torchmetrics.segmentation import HausdorffDistance, MeanIoU
from torchmetrics.wrappers import (
    BootStrapper,
    ClasswiseWrapper,
    MetricTracker,
    MinMaxMetric,
    MultioutputWrapper,
    MultitaskWrapper,
    Running,
)

torch.manual_seed(0)
accuracy = torchmetrics.Accuracy("multiclass", num_classes=3)
tracker = MetricTracker(accuracy.clone())
for _ in range(3):
    tracker.increment()
    for _ in range(2):
        tracker.update(torch.randn(10, 3), torch.randint(0, 3, (10,)))
print(tracker.compute_all(), tracker.best_metric(return_step=True))
collection = torchmetrics.MetricCollection(
    [
        accuracy,
        torchmetrics.F1Score("multiclass", num_classes=3),
        torchmetrics.ConfusionMatrix("multiclass", num_classes=3),
    ],
    prefix="val_",
)
for _ in range(3):
    collection.update(torch.randn(10, 3), torch.randint(0, 3, (10,)))
print(collection.compute(), collection.compute_groups)
scores, relevant = torch.rand(10), torch.tensor([0, 1, 1, 0, 0, 1, 0, 1, 0, 1])
queries = torch.tensor([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
for metric in (RetrievalMAP(), RetrievalMRR(), RetrievalNormalizedDCG(), RetrievalPrecisionRecallCurve()):
    print(type(metric).__name__, metric(scores, relevant, indexes=queries))
print(MinMaxMetric(MeanSquaredError())(scores, relevant.float()))
print(MultioutputWrapper(R2Score(), 2)(torch.randn(8, 2), torch.randn(8, 2)))
print(BootStrapper(MeanSquaredError(), num_bootstraps=4, raw=True)(scores, relevant.float()))
running = Running(torchmetrics.SumMetric(), 3)
print([running(torch.tensor(float(i))).item() for i in range(5)], running.compute())
labelled = ClasswiseWrapper(torchmetrics.Accuracy("multiclass", num_classes=3, average=None), labels=["a", "b", "c"])
print(labelled(torch.randn(9, 3), torch.randint(0, 3, (9,))))
tasks = MultitaskWrapper({"c": torchmetrics.Accuracy("binary"), "r": MeanSquaredError()})
print(tasks({"c": scores, "r": scores}, {"c": relevant, "r": relevant.float()}))
boxes = [dict(boxes=torch.tensor([[1.0, 1, 5, 5], [2, 2, 6, 6]]), labels=torch.tensor([0, 1]), scores=torch.rand(2))]
print(CompleteIntersectionOverUnion()(boxes, [dict(boxes=boxes[0]["boxes"] + 0.5, labels=torch.tensor([0, 1]))]))
picture, other = torch.randint(0, 3, (2, 2, 12, 12))
print(MeanIoU(3, input_format="index")(picture, other), HausdorffDistance(3, input_format="index")(picture, other))
print(
    PanopticQuality({0, 1}, {6, 7})(
        *(torch.tensor([[[[6, 0], [a, 0], [6, 0]], [[0, 1], [0, 0], [7, 0]]]]) for a in (0, 1))
    )
)
kept = pickle.loads(pickle.dumps(accuracy))
print(kept.compute(), (kept + 2).compute(), kept.metric_state["tp"], kept.update_count)
