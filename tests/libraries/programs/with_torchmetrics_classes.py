"""torchmetrics: a hundred metrics, each fed in two batches: labels, numbers, images, texts, rankings, clusters, sounds, segments."""

import torch
from torchmetrics import audio, classification, clustering, image, nominal, regression, retrieval, segmentation, text
from torchmetrics.functional import scale_invariant_signal_noise_ratio

torch.manual_seed(0)


def numbers(value):
    if isinstance(value, dict):
        return [n for key in sorted(value) for n in numbers(value[key])]
    if isinstance(value, (list, tuple)):
        return [n for each in value for n in numbers(each)]
    return torch.as_tensor(value).double().flatten().tolist()


def measured(metric, *arguments, parts=((0, 15), (15, None))):
    for start, end in parts:
        metric.update(*(each[start:end] for each in arguments))
    shown = numbers(metric.compute())
    print(type(metric).__name__, *(f"{n:.5f}" for n in shown[:6]), f"{sum(abs(n) for n in shown if n == n):.5f}")


chance, yes = torch.rand(40), torch.randint(2, (40,))
for name in (
    "AveragePrecision", "CalibrationError", "CohenKappa", "EER", "HammingDistance", "HingeLoss", "JaccardIndex", "MatthewsCorrCoef",
    "NegativePredictiveValue", "Specificity", "StatScores", "ROC", "PrecisionRecallCurve", "F1Score", "AUROC", "ConfusionMatrix",
):  # fmt: skip
    measured(getattr(classification, f"Binary{name}")(), chance, yes)
measured(classification.BinaryFairness(2), chance, yes, torch.randint(2, (40,)))
measured(classification.BinaryPrecisionAtFixedRecall(0.6), chance, yes)
measured(classification.BinarySensitivityAtSpecificity(0.4), chance, yes)
chances, classes = torch.randn(40, 5).softmax(-1), torch.randint(5, (40,))
for metric in (
    classification.MulticlassAUROC(5, average="weighted"), classification.MulticlassAveragePrecision(5, thresholds=10),
    classification.MulticlassCalibrationError(5, n_bins=4, norm="max"), classification.MulticlassCohenKappa(5, weights="quadratic"),
    classification.MulticlassFBetaScore(2.0, 5, average=None), classification.MulticlassHingeLoss(5, multiclass_mode="one-vs-all"),
    classification.MulticlassJaccardIndex(5, average="weighted"), classification.MulticlassMatthewsCorrCoef(5),
    classification.MulticlassPrecision(5, top_k=2), classification.MulticlassRecall(5, average="micro", ignore_index=2),
    classification.MulticlassSpecificity(5, average="none"), classification.MulticlassStatScores(5),
    classification.MulticlassROC(5, thresholds=3), classification.MulticlassConfusionMatrix(5, normalize="true"),
):  # fmt: skip
    measured(metric, chances, classes)
several, wanted = torch.rand(40, 4), torch.randint(2, (40, 4))
for name in (
    "Accuracy", "AUROC", "AveragePrecision", "ConfusionMatrix", "CoverageError", "ExactMatch", "F1Score", "JaccardIndex",
    "MatthewsCorrCoef", "RankingAveragePrecision", "RankingLoss", "Specificity", "StatScores", "HammingDistance",
):  # fmt: skip
    measured(getattr(classification, f"Multilabel{name}")(4), several, wanted)

found, true = torch.rand(40) + 0.1, torch.rand(40) + 0.1
for metric in (
    regression.ConcordanceCorrCoef(), regression.CriticalSuccessIndex(0.5), regression.ExplainedVariance(), regression.LogCoshError(),
    regression.KendallRankCorrCoef(variant="c", t_test=True), regression.MeanAbsolutePercentageError(), regression.MeanSquaredLogError(),
    regression.MinkowskiDistance(3), regression.NormalizedRootMeanSquaredError(normalization="std"), regression.RelativeSquaredError(),
    regression.R2Score(adjusted=3), regression.SpearmanCorrCoef(), regression.SymmetricMeanAbsolutePercentageError(),
    regression.TweedieDevianceScore(1.5), regression.WeightedMeanAbsolutePercentageError(),
):  # fmt: skip
    measured(metric, found, true)
measured(regression.PearsonCorrCoef(num_outputs=3), torch.randn(40, 3), torch.randn(40, 3))
measured(regression.KLDivergence(), chances, chances.flip(0))
measured(regression.JensenShannonDivergence(), chances, chances.flip(0))

pictures, others = torch.rand(4, 3, 48, 48), torch.rand(4, 3, 48, 48)
for metric in (
    image.ErrorRelativeGlobalDimensionlessSynthesis(), image.RelativeAverageSpectralError(), image.RootMeanSquaredErrorUsingSlidingWindow(),
    image.MultiScaleStructuralSimilarityIndexMeasure(data_range=1.0, betas=(0.3, 0.7), kernel_size=5), image.SpectralAngleMapper(),
    image.SpectralDistortionIndex(), image.StructuralSimilarityIndexMeasure(gaussian_kernel=False, kernel_size=7),
    image.UniversalImageQualityIndex(), image.VisualInformationFidelity(), image.SpatialCorrelationCoefficient(),
):  # fmt: skip
    measured(metric, pictures, others, parts=((0, 2), (2, 4)))

said, meant = ["the cat sat on the mat", "hello there world"], ["the cat is on the mat", "hello world"]
for metric in (
    text.CharErrorRate(), text.WordErrorRate(), text.MatchErrorRate(), text.WordInfoLost(), text.WordInfoPreserved(), text.EditDistance(),
    text.TranslationEditRate(), text.CHRFScore(), text.BLEUScore(n_gram=2, smooth=True), text.SacreBLEUScore(n_gram=2),
):  # fmt: skip
    listed = type(metric).__name__ in ("TranslationEditRate", "CHRFScore", "BLEUScore", "SacreBLEUScore")
    measured(metric, said, [[each] for each in meant] if listed else meant, parts=((0, 1), (1, 2)))
measured(text.Perplexity(), torch.randn(4, 5, 7), torch.randint(7, (4, 5)), parts=((0, 2), (2, 4)))

asked = torch.arange(40) // 8
for metric in (
    retrieval.RetrievalAUROC(), retrieval.RetrievalFallOut(top_k=3), retrieval.RetrievalHitRate(top_k=2), retrieval.RetrievalRPrecision(),
    retrieval.RetrievalPrecision(top_k=3, adaptive_k=True), retrieval.RetrievalRecall(top_k=3), retrieval.RetrievalNormalizedDCG(top_k=4),
):  # fmt: skip
    measured(metric, chance, yes, asked)
groups, guesses, points = torch.randint(4, (40,)), torch.randint(3, (40,)), torch.randn(40, 3)
for name in (
    "AdjustedMutualInfoScore", "AdjustedRandScore", "CompletenessScore", "FowlkesMallowsIndex", "HomogeneityScore", "MutualInfoScore",
    "NormalizedMutualInfoScore", "RandScore", "VMeasureScore",
):  # fmt: skip
    measured(getattr(clustering, name)(), guesses, groups)
for metric in (clustering.CalinskiHarabaszScore(), clustering.DaviesBouldinScore(), clustering.DunnIndex()):
    measured(metric, points, groups)
for metric in (
    nominal.CramersV(4),
    nominal.TheilsU(4),
    nominal.TschuprowsT(4),
    nominal.PearsonsContingencyCoefficient(4),
):
    measured(metric, guesses, groups)
sounds, clean = torch.randn(4, 2, 400), torch.randn(4, 2, 400)
for metric in (
    audio.ScaleInvariantSignalDistortionRatio(), audio.SignalNoiseRatio(zero_mean=True), audio.SourceAggregatedSignalDistortionRatio(),
    audio.PermutationInvariantTraining(scale_invariant_signal_noise_ratio, eval_func="max"),
):  # fmt: skip
    measured(metric, sounds, clean, parts=((0, 2), (2, 4)))
masks, marked = torch.randint(0, 2, (4, 3, 8, 8)), torch.randint(0, 2, (4, 3, 8, 8))
for metric in (
    segmentation.GeneralizedDiceScore(3),
    segmentation.DiceScore(3, average="macro"),
    segmentation.MeanIoU(3),
):
    measured(metric, masks, marked, parts=((0, 2), (2, 4)))
