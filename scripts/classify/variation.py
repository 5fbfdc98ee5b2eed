"""Varies characters while training, on batches: cells of ink become grey pictures as cameras and scanners deliver them."""

import math

import torch
import torch.nn.functional as F

from fonts import matrix

# Blur, resolution and severity are drawn once for a group of a batch, so that one convolution serves all of it.
GROUP = 32
# The side of the cells that pictures are sampled from: little more than that of the input, so that no stroke is missed.
CELL = 48


def uniform(count, low, high):
    """A number for each picture, which applies to all of its pixels."""
    return torch.empty(count, 1, 1, 1).uniform_(low, high)


def one(low, high):
    """A number for the group."""
    return torch.empty(()).uniform_(low, high).item()


def field(count, side, points=3):
    """Smooth random numbers 0...1 for each picture."""
    return F.interpolate(torch.rand(count, 1, points, points), size=(side, side), mode="bilinear", align_corners=True)


def blurred(planes, across, down):
    """A Gaussian blur with a standard deviation in pixels for each direction."""
    for sigma, dimension in ((across, 3), (down, 2)):
        if sigma < 0.2:
            continue
        radius = min(math.ceil(2.5 * sigma), planes.shape[dimension] - 1)
        kernel = torch.exp(-torch.arange(-radius, radius + 1).float() ** 2 / (2 * sigma * sigma))
        kernel = kernel / kernel.sum()
        shape = (1, 1, 1, -1) if dimension == 3 else (1, 1, -1, 1)
        padding = (radius, radius, 0, 0) if dimension == 3 else (0, 0, radius, radius)
        planes = F.conv2d(F.pad(planes, padding, mode="replicate"), kernel.reshape(shape))
    return planes


def weighted(ink):
    """Strokes become thicker or thinner."""
    kind = one(0, 1)
    if kind < 0.25:
        return torch.lerp(ink, F.max_pool2d(ink, 3, 1, 1), one(0, 0.8))
    if kind < 0.45:
        return torch.lerp(ink, -F.max_pool2d(-ink, 3, 1, 1), one(0, 0.6))
    return ink


def placed(ink, side):
    """The cells turned, sheared, scaled, moved and bent a little each."""
    count = len(ink)
    angle = (torch.randn(count) * 2.5).clamp(-8, 8) * math.pi / 180
    shear = torch.randn(count) * 0.05
    scale = torch.exp(torch.empty(count).uniform_(-0.15, 0.13))
    aspect = torch.exp(torch.randn(count) * 0.05)
    move = torch.empty(count, 2).uniform_(-0.12, 0.12)
    cosine, sine = torch.cos(angle), torch.sin(angle)
    across = torch.stack([cosine * scale * aspect, (shear - sine) * scale, move[:, 0]], 1)
    down = torch.stack([sine * scale, cosine * scale / aspect, move[:, 1]], 1)
    grid = F.affine_grid(torch.stack([across, down], 1), (count, 1, side, side), align_corners=False)
    bends = torch.randn(count, 2, 4, 4) * torch.empty(count, 1, 1, 1).uniform_(0, 0.035)
    grid = grid + F.interpolate(bends, size=(side, side), mode="bilinear", align_corners=True).permute(0, 2, 3, 1)
    return F.grid_sample(ink, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


def neighbours(page):
    """The edges of other characters that reach into the cell, on one side."""
    side = page.shape[3]
    depth = max(1, round(side * one(0.02, 0.12)))
    dimension = 3 if one(0, 1) < 0.5 else 2
    other = page.roll(3, 0).roll(side - depth - round(side * 0.07), dimension)
    place = torch.arange(side)
    at_edge = (place >= side - depth).float().reshape((1, 1, 1, side) if dimension == 3 else (1, 1, side, 1))
    other = other * at_edge
    return other if one(0, 1) < 0.5 else other.flip(dimension)


def varied(ink, severity, side):
    """Pictures of side * side numbers, 0 for black and 1 for white, of cells of ink, 1 where they are black."""
    count = len(ink)
    page = placed(weighted(ink), side)
    if severity == 0:
        return 1 - page

    sharp = page
    if one(0, 1) < 0.5:
        page = page * (1 - severity * uniform(count, 0, 0.75) * field(count, side, 4))
    if one(0, 1) < 0.6:
        back = blurred(sharp.roll(1, 0).flip(3), one(0.3, 1.5), one(0.3, 1.5))
        page = torch.maximum(page, back * severity * uniform(count, 0, 0.6))
    if one(0, 1) < 0.25:
        page = torch.maximum(page, neighbours(sharp))
    if one(0, 1) < 0.2:
        specks = (torch.rand_like(page) < 0.004).float()
        page = torch.maximum(page, (blurred(specks, 0.6, 0.6) * 2).clamp(0, 1))
    if one(0, 1) < 0.75:
        sigma = severity * one(0, 1.9)
        page = blurred(page, sigma * one(0.6, 1), sigma * one(0.6, 1))

    paper, black = 1 - severity * uniform(count, 0, 0.35), severity * uniform(count, 0, 0.45)
    grey = (paper - (paper - black) * page) * (1 - severity * uniform(count, 0, 0.6) * field(count, side))
    resolution = max(11, round(50 - severity * one(0, 38)))
    if resolution < side and one(0, 1) < 0.75:
        grey = F.interpolate(grey, size=(resolution, resolution), mode="bilinear", antialias=True, align_corners=False)
    grey = grey + torch.randn_like(grey) * severity * uniform(count, 0, 0.14)
    if one(0, 1) < 0.1:
        low, high = grey.amin((2, 3), keepdim=True), grey.amax((2, 3), keepdim=True)
        grey = ((grey - low - (high - low) * one(0.4, 0.6)) * 30 + 0.5).clamp(0, 1)
    if grey.shape[3] < side:
        grey = F.interpolate(grey, size=(side, side), mode="bilinear" if one(0, 1) < 0.5 else "bicubic", align_corners=False)
    return grey.clamp(0, 1)


@torch.no_grad()
def batch(cells, size, clean=0.25):
    """The network's input for a batch of cells of bytes: about a quarter of it as it is printed, the rest degraded."""
    shrink = torch.from_numpy(matrix(cells.shape[1], CELL))
    ink = (shrink @ (cells.float() / 255) @ shrink.T).unsqueeze(1)
    parts = [varied(group, 0 if one(0, 1) < clean else one(0.05, 1.1), size) for group in ink.split(GROUP)]
    return torch.cat(parts) * 2 - 1
