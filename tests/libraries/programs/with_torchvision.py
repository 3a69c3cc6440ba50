"""torchvision's Python: models and their gradients, transforms of images, boxes and masks, losses of boxes, pictures drawn."""

import random

import numpy as np
import torch
import torchvision
from PIL import Image
from torch import nn
from torchvision import datasets, models, ops, transforms, tv_tensors, utils
from torchvision.models.feature_extraction import create_feature_extractor
from torchvision.transforms import v2

torch.manual_seed(0)
images = torch.rand(2, 3, 64, 64)
coarse = (images * 255).to(torch.uint8)
picture = Image.fromarray(coarse[0].permute(1, 2, 0).numpy())


def told(name, *values):
    values = [torch.as_tensor(np.array(v) if isinstance(v, Image.Image) else v).detach().double() for v in values]
    print(name, *(f"{tuple(v.shape)} {v.abs().sum().item():.6g} {v.norm().item():.6g}" for v in values))


for name, options in {
    "resnet18": {},
    "squeezenet1_1": {},
    "mobilenet_v3_small": {},
    "shufflenet_v2_x0_5": {},
    "efficientnet_b0": {},
    "regnet_y_400mf": {},
    "convnext_tiny": {},
    "vit_b_16": {"image_size": 64},
}.items():
    torch.manual_seed(1)
    model = models.get_model(name, weights=None, num_classes=5, **options).eval()
    scores = model(images)
    nn.functional.cross_entropy(scores, torch.tensor([1, 3])).backward()
    told(name, scores, torch.stack([p.grad.abs().sum() for p in model.parameters() if p.grad is not None]).sum())
torch.manual_seed(2)
model = models.get_model("lraspp_mobilenet_v3_large", weights=None, weights_backbone=None, num_classes=4).eval()
told("segmentation", model(images)["out"])
features = create_feature_extractor(models.resnet18(weights=None).eval(), {"layer1": "first", "layer3": "third"})
told("features", *features(images).values())

for transform in (
    transforms.RandomResizedCrop(32), transforms.ColorJitter(0.4, 0.4, 0.4, 0.1), transforms.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 10),
    transforms.RandomPerspective(0.5, 1.0), transforms.GaussianBlur(5), transforms.RandomAdjustSharpness(2, 1.0),
    transforms.RandAugment(), transforms.AugMix(), transforms.RandomEqualize(1.0), transforms.ElasticTransform(),
):  # fmt: skip
    for source in (coarse, picture):
        torch.manual_seed(3)
        random.seed(3)
        told(type(transform).__name__, transform(source))
steps = transforms.Compose(
    [
        transforms.Resize(40),
        transforms.ToTensor(),
        transforms.Normalize((0.5,) * 3, (0.2,) * 3),
        transforms.RandomErasing(1.0),
    ]
)
told("composed", steps(picture))
print(steps)
boxes = tv_tensors.BoundingBoxes(torch.tensor([[5.0, 6.0, 20.0, 30.0]]), format="XYXY", canvas_size=(64, 64))
torch.manual_seed(4)
together = v2.Compose(
    [v2.RandomHorizontalFlip(1.0), v2.RandomResizedCrop(32, antialias=True), v2.ToDtype(torch.float32, scale=True)]
)
moved = together(tv_tensors.Image(coarse[0]), boxes, tv_tensors.Mask(images[0, :1] > 0.5))
told("together", *(each.as_subclass(torch.Tensor) for each in moved))
told(
    "mixed",
    *v2.MixUp(num_classes=4)(images, torch.tensor([1, 2])),
    *v2.CutMix(num_classes=4)(images, torch.tensor([1, 2])),
)

first = torch.tensor([[0.0, 0.0, 10.0, 10.0], [5.0, 5.0, 15.0, 15.0]])
second = torch.tensor([[1.0, 1.0, 9.0, 9.0], [8.0, 8.0, 18.0, 21.0]])
for measure in (ops.box_iou, ops.generalized_box_iou, ops.distance_box_iou, ops.complete_box_iou):
    told(measure.__name__, measure(first, second))
moving = first.clone().requires_grad_()
loss = sum(
    f(moving, second, "sum")
    for f in (ops.generalized_box_iou_loss, ops.distance_box_iou_loss, ops.complete_box_iou_loss)
)
loss = loss + ops.sigmoid_focal_loss(moving / 10, (second > 8).float(), reduction="mean")
loss.backward()
told("losses of boxes", loss, moving.grad)
told("areas", ops.box_area(first), ops.box_convert(first, "xyxy", "cxcywh"), ops.masks_to_boxes(images[0] > 0.99))
pyramid = ops.FeaturePyramidNetwork([8, 16], 4)
told("pyramid", *pyramid({"fine": torch.ones(1, 8, 8, 8), "coarse": torch.ones(1, 16, 4, 4)}).values())
told("grid", utils.make_grid(images, nrow=2, padding=1, normalize=True, scale_each=True, pad_value=0.5))
told("drawn", utils.draw_bounding_boxes(coarse[0], boxes.as_subclass(torch.Tensor), colors="red", width=2))
told("masked", utils.draw_segmentation_masks(coarse[0], images[0, 0] > 0.5, alpha=0.6, colors="blue"))

torch.manual_seed(5)
net = nn.Sequential(
    ops.Conv2dNormActivation(3, 8, stride=2), ops.SqueezeExcitation(8, 4), ops.StochasticDepth(0.2, "row"), nn.Flatten(), ops.MLP(8 * 64, [16, 4], dropout=0.1)
)  # fmt: skip
loader = torch.utils.data.DataLoader(
    datasets.FakeData(16, (3, 16, 16), 4, transform=transforms.ToTensor()), 4, shuffle=True
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
for inputs, targets in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(inputs), targets, label_smoothing=0.1)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")
print(torchvision.__version__.split("+")[0])
