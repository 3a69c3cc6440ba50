"""torchmetrics: classification, regression, images, text, clustering, retrieval, and one of its user."""

import torch
import torchmetrics as tm
from torchmetrics import (
    CatMetric,
    ClasswiseWrapper,
    MeanMetric,
    MetricCollection,
    MetricTracker,
)
from torchmetrics.classification import *
from torchmetrics.regression import *

torch.manual_seed(0)
p = torch.randn(3, 20, 5).softmax(-1)
t = torch.randint(0, 5, (3, 20))
C = MetricCollection(
    {
        n: c
        for n, c in dict(
            acc=MulticlassAccuracy(5),
            micro=MulticlassAccuracy(5, average="micro"),
            top2=MulticlassAccuracy(5, top_k=2),
            f1=MulticlassF1Score(5),
            pr=MulticlassPrecision(5),
            re=MulticlassRecall(5, average="weighted"),
            auroc=MulticlassAUROC(5),
            ap=MulticlassAveragePrecision(5),
            auroct=MulticlassAUROC(5, thresholds=10),
            kappa=MulticlassCohenKappa(5),
            mcc=MulticlassMatthewsCorrCoef(5),
            jac=MulticlassJaccardIndex(5),
            cal=MulticlassCalibrationError(5),
            spec=MulticlassSpecificity(5),
            hinge=MulticlassHingeLoss(5),
            ham=MulticlassHammingDistance(5),
            exact=MulticlassStatScores(5, average=None),
        ).items()
    }
)
for i in range(3):
    C.update(p[i], t[i])
for k, v in C.compute().items():
    print(k, v.tolist())
cm = MulticlassConfusionMatrix(5, normalize="true")
print(cm(p[0], t[0]).tolist())
C.reset()
b = torch.rand(50)
bt = torch.randint(0, 2, (50,))
for m in (
    BinaryAccuracy(),
    BinaryF1Score(),
    BinaryAUROC(),
    BinaryAveragePrecision(),
    BinaryCalibrationError(),
    BinaryConfusionMatrix(),
    BinarySpecificity(),
    BinaryMatthewsCorrCoef(),
    BinaryStatScores(),
    BinaryFBetaScore(0.5),
    BinaryRecallAtFixedPrecision(0.5),
):
    r = m(b, bt)
    print(type(m).__name__, [x.tolist() for x in r] if isinstance(r, tuple) else r.tolist())
print([x.sum().item() for x in BinaryROC()(b, bt)], [x.sum().item() for x in BinaryPrecisionRecallCurve()(b, bt)])
ml = torch.rand(20, 4)
mt = torch.randint(0, 2, (20, 4))
for m in (
    MultilabelAccuracy(4),
    MultilabelF1Score(4),
    MultilabelAUROC(4),
    MultilabelRankingLoss(4),
    MultilabelCoverageError(4),
    MultilabelExactMatch(4),
):
    print(type(m).__name__, m(ml, mt).item())
a, c = torch.randn(30), torch.randn(30)
for m in (
    MeanSquaredError(),
    MeanSquaredError(squared=False),
    MeanAbsoluteError(),
    R2Score(),
    PearsonCorrCoef(),
    SpearmanCorrCoef(),
    KendallRankCorrCoef(),
    ExplainedVariance(),
    ConcordanceCorrCoef(),
    LogCoshError(),
    MeanAbsolutePercentageError(),
    SymmetricMeanAbsolutePercentageError(),
    WeightedMeanAbsolutePercentageError(),
    RelativeSquaredError(),
):
    m.update(a[:15], c[:15])
    m.update(a[15:], c[15:])
    print(type(m).__name__, m.compute().item())
print(CosineSimilarity(reduction="mean")(a.view(5, 6), c.view(5, 6)).item(), KLDivergence()(p[0], p[1]).item())
m = MeanMetric()
m.update(3.0, weight=2.0)
m.update(torch.tensor([1.0, 2.0]))
print(m.compute().item(), (m + 1).compute() if False else "")
cat = CatMetric()
cat.update([1.0, 2.0])
cat.update(3.0)
print(cat.compute().tolist())
tr = MetricTracker(MulticlassAccuracy(5, average="micro"))
for i in range(3):
    tr.increment()
    tr.update(p[i], t[i])
print(tr.compute_all().tolist(), tr.best_metric(return_step=True))
comp = MeanSquaredError() + 2 * MeanAbsoluteError()
comp.update(a, c)
print(comp.compute().item())
cw = ClasswiseWrapper(MulticlassAccuracy(5, average=None))
print({k: v.item() for k, v in cw(p[0], t[0]).items()})
img = torch.rand(2, 3, 32, 32)
im2 = img * 0.8 + 0.1 * torch.rand_like(img)
from torchmetrics.image import *

print(
    PeakSignalNoiseRatio(data_range=1.0)(im2, img).item(),
    StructuralSimilarityIndexMeasure(data_range=1.0)(im2, img).item(),
    TotalVariation()(img).item(),
    UniversalImageQualityIndex()(im2, img).item(),
    SpectralAngleMapper()(im2, img).item(),
    ErrorRelativeGlobalDimensionlessSynthesis()(im2, img).item(),
)
from torchmetrics.text import *

print(
    BLEUScore()(["the cat is on the mat"], [["there is a cat on the mat", "a cat is on the mat"]]).item(),
    WordErrorRate()(["this is the prediction"], ["this is the reference"]).item(),
    CharErrorRate()(["abc d"], ["abd d"]).item(),
    Perplexity()(p, t).item(),
)
from torchmetrics.clustering import *

print(
    MutualInfoScore()(t[0], t[1]).item(),
    AdjustedRandScore()(t[0], t[1]).item(),
    NormalizedMutualInfoScore()(t[0], t[1]).item(),
)
from torchmetrics.retrieval import *

idx = torch.tensor([0] * 10 + [1] * 10)
print(
    [
        m()(b[:20], bt[:20], indexes=idx).item()
        for m in (RetrievalMAP, RetrievalMRR, RetrievalNormalizedDCG, RetrievalPrecision, RetrievalRecall)
    ]
)


class Mine(tm.Metric):
    full_state_update = False

    def __init__(s):
        super().__init__()
        s.add_state("n", torch.tensor(0), dist_reduce_fx="sum")
        s.add_state("l", [], dist_reduce_fx="cat")

    def update(s, x):
        s.n += x.numel()
        s.l.append(x)

    def compute(s):
        return torch.cat(s.l).sum() / s.n


m = Mine()
m(a)
m(c)
print(m.compute().item(), m.n.item())
import pickle

print(pickle.loads(pickle.dumps(m)).compute().item())
s = PeakSignalNoiseRatio(data_range=1.0)
z = im2.clone().requires_grad_()
s(z, img).backward()
print(z.grad.norm().item())
