"""The classifier's network: a few convolutions for a small grey picture."""

import torch
from torch import nn

SIZE = 40
# A number of the input is (byte - MEAN) * SCALE, so -1...1.
MEAN, SCALE = 127.5, 1 / 127.5


def convolution(inputs, outputs, side, stride=1, groups=1):
    return [nn.Conv2d(inputs, outputs, side, stride, side // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]


class Separable(nn.Module):
    """A convolution of each channel, then one across channels; around it the input is added if it has the same shape."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.layers = nn.Sequential(
            *convolution(inputs, inputs, 3, stride, inputs), nn.ReLU(inplace=True), *convolution(inputs, outputs, 1))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.layers(x)
        return torch.relu(x + y if self.adds else y)


class Network(nn.Module):
    """Pictures of 1 * SIZE * SIZE numbers become one logit for each class."""

    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            *convolution(1, 16, 5, 2), nn.ReLU(inplace=True),
            *convolution(16, 64, 3, 2), nn.ReLU(inplace=True),
            Separable(64, 96), Separable(96, 96), Separable(96, 96),
            Separable(96, 192, 2), Separable(192, 192),
            # Each place has weights of its own here: where a stroke is tells characters apart.
            nn.Conv2d(192, 192, SIZE // 8, groups=192, bias=False), nn.BatchNorm2d(192), nn.Flatten(1),
            nn.Linear(192, 128, bias=False), nn.BatchNorm1d(128))
        self.classes = nn.Linear(128, classes)

    def forward(self, x):
        return self.classes(self.features(x))
