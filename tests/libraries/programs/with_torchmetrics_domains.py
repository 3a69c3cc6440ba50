"""torchmetrics: images, sound, regression, text, clusters, nominal variables."""

import torch
from torchmetrics.aggregation import *
from torchmetrics.audio import *
from torchmetrics.clustering import *
from torchmetrics.functional import (
    pairwise_euclidean_distance,
    pairwise_linear_similarity,
    pairwise_manhattan_distance,
    pairwise_minkowski_distance,
)
from torchmetrics.functional.nominal import cramers_v, pearsons_contingency_coefficient, theils_u, tschuprows_t
from torchmetrics.image import *
from torchmetrics.regression import *
from torchmetrics.text import *

torch.manual_seed(0)
a = torch.rand(2, 3, 64, 64)
b = (a + 0.1 * torch.randn_like(a)).clamp(0, 1)
for M in (
    PeakSignalNoiseRatio(data_range=1.0),
    StructuralSimilarityIndexMeasure(data_range=1.0),
    UniversalImageQualityIndex(),
    SpectralAngleMapper(),
    ErrorRelativeGlobalDimensionlessSynthesis(),
    TotalVariation(),
    RelativeAverageSpectralError(),
    RootMeanSquaredErrorUsingSlidingWindow(),
    SpatialCorrelationCoefficient(),
):
    try:
        print(type(M).__name__, (M(a) if isinstance(M, TotalVariation) else M(b, a)).item())
    except Exception as e:
        print(type(M).__name__, type(e).__name__)
x = torch.randn(2, 400)
y = x + 0.3 * torch.randn(2, 400)
for M in (
    SignalNoiseRatio(),
    ScaleInvariantSignalDistortionRatio(),
    ScaleInvariantSignalNoiseRatio(),
    SignalDistortionRatio(filter_length=32),
):
    try:
        print(type(M).__name__, M(y, x).item())
    except Exception as e:
        print(type(M).__name__, type(e).__name__)
p = torch.rand(50) + 0.1
t = torch.rand(50) + 0.1
for M in (
    ConcordanceCorrCoef(),
    CosineSimilarity(),
    ExplainedVariance(),
    KendallRankCorrCoef(),
    KLDivergence(),
    LogCoshError(),
    MeanAbsolutePercentageError(),
    MinkowskiDistance(3),
    MeanSquaredLogError(),
    RelativeSquaredError(),
    SymmetricMeanAbsolutePercentageError(),
    TweedieDevianceScore(1.5),
    WeightedMeanAbsolutePercentageError(),
    SpearmanCorrCoef(),
    PearsonCorrCoef(),
):
    try:
        print(
            type(M).__name__,
            (
                M(p[None] / p.sum(), t[None] / t.sum()) if isinstance(M, (KLDivergence, CosineSimilarity)) else M(p, t)
            ).item(),
        )
    except Exception as e:
        print(type(M).__name__, type(e).__name__, str(e)[:50])
pr = ["the cat is on the mat", "hello there general"]
tg = ["there is a cat on the mat", "hello there general kenobi"]
for M in (
    WordErrorRate(),
    CharErrorRate(),
    MatchErrorRate(),
    WordInfoLost(),
    BLEUScore(),
    SacreBLEUScore(),
    CHRFScore(),
    TranslationEditRate(),
    EditDistance(),
):
    try:
        print(
            type(M).__name__,
            M(
                pr,
                [[q] for q in tg]
                if type(M).__name__ in ("BLEUScore", "SacreBLEUScore", "CHRFScore", "TranslationEditRate")
                else tg,
            ).item(),
        )
    except Exception as e:
        print(type(M).__name__, type(e).__name__, str(e)[:50])
pp = Perplexity(ignore_index=-100)
print(pp(torch.randn(2, 5, 9), torch.randint(9, (2, 5))).item())
i = torch.randint(4, (60,))
j = torch.randint(4, (60,))
print(
    cramers_v(i, j).item(),
    theils_u(i, j).item(),
    tschuprows_t(i, j).item(),
    pearsons_contingency_coefficient(i, j).item(),
)
for M in (
    MutualInfoScore(),
    NormalizedMutualInfoScore(),
    AdjustedRandScore(),
    RandScore(),
    FowlkesMallowsIndex(),
    HomogeneityScore(),
    VMeasureScore(),
):
    print(type(M).__name__, M(i, j).item())
for M in (CalinskiHarabaszScore(), DaviesBouldinScore(), DunnIndex()):
    print(type(M).__name__, M(torch.randn(60, 3), i).item())
u = torch.randn(4, 3)
w = torch.randn(5, 3)
print(
    pairwise_euclidean_distance(u, w).sum().item(),
    pairwise_manhattan_distance(u).sum().item(),
    pairwise_linear_similarity(u, w).sum().item(),
    pairwise_minkowski_distance(u, w, exponent=3).sum().item(),
)
s = StructuralSimilarityIndexMeasure(data_range=1.0)
q = b.clone().requires_grad_()
(1 - s(q, a)).backward()
print(q.grad.norm().item())
