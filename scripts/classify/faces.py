#!/usr/bin/env python3
"""The fonts of the character classifier, by the use that is made of them.

    scripts/classify/faces.py test      prints the Debian packages of the fonts for tests
    scripts/classify/faces.py all       prints those of all fonts

A face is (Debian package, file, number of the face in the file). Fonts with outlines of one descent have one use only:
Takao, IPAex and MigMix descend from IPA, VL Gothic and Ume Plus from M+, BabelStone Han from Arphic, so that none of
them could test what was trained on the other.
"""

import sys

TRAIN = [
    # Japanese, Korean, simplified and traditional forms differ in a few strokes.
    ("fonts-noto-cjk", "NotoSansCJK-Regular.ttc", 0),
    ("fonts-noto-cjk", "NotoSansCJK-Regular.ttc", 2),
    ("fonts-noto-cjk", "NotoSansCJK-Regular.ttc", 3),
    ("fonts-noto-cjk", "NotoSansCJK-Bold.ttc", 0),
    ("fonts-noto-cjk", "NotoSansCJK-Bold.ttc", 3),
    ("fonts-noto-cjk", "NotoSerifCJK-Regular.ttc", 0),
    ("fonts-noto-cjk", "NotoSerifCJK-Regular.ttc", 2),
    ("fonts-noto-cjk", "NotoSerifCJK-Regular.ttc", 3),
    ("fonts-noto-cjk", "NotoSerifCJK-Bold.ttc", 1),
    ("fonts-arphic-uming", "uming.ttc", 0),
    ("fonts-arphic-uming", "uming.ttc", 2),
    ("fonts-arphic-ukai", "ukai.ttc", 0),
    ("fonts-arphic-ukai", "ukai.ttc", 2),
    ("fonts-hanazono", "HanaMinA.ttf", 0),
    ("fonts-ipafont-gothic", "ipag.ttf", 0),
    ("fonts-ipafont-mincho", "ipam.ttf", 0),
    ("fonts-cwtex-fs", "*.ttf", 0),
    ("fonts-cwtex-heib", "*.ttf", 0),
    ("fonts-cwtex-ming", "*.ttf", 0),
    ("fonts-cwtex-yen", "*.ttf", 0),
    ("fonts-horai-umefont", "ume-tgo4.ttf", 0),
    ("fonts-horai-umefont", "ume-tmo3.ttf", 0),
    ("fonts-lxgw-wenkai", "LXGWWenKai-Regular.ttf", 0),
    ("fonts-lxgw-wenkai", "LXGWWenKai-Bold.ttf", 0),
    ("fonts-motoya-l-cedar", "*.ttf", 0),
    ("fonts-motoya-l-maruberi", "*.ttf", 0),
    ("fonts-sawarabi-gothic", "*.ttf", 0),
    ("fonts-konatu", "Konatu.ttf", 0),
    ("fonts-baekmuk", "batang.ttf", 0),
    ("fonts-baekmuk", "dotum.ttf", 0),
    ("fonts-unfonts-core", "UnBatang.ttf", 0),
    ("fonts-seto", "setofont.ttf", 0),
]

CALIBRATE = [
    ("fonts-wqy-zenhei", "wqy-zenhei.ttc", 0),
    ("fonts-cns11643-sung", "TW-Sung-98_1.ttf", 0),
    ("fonts-cwtex-kai", "*.ttf", 0),
]

TEST = [
    ("fonts-wqy-microhei", "wqy-microhei.ttc", 0),
    ("fonts-morisawa-bizud-mincho", "BIZUDMincho-Regular.ttf", 0),
    ("fonts-cns11643-kai", "TW-Kai-98_1.ttf", 0),
]


def packages(faces):
    """The packages of some faces, each once."""
    return sorted({package for package, _, _ in faces})


if __name__ == "__main__":
    if sys.argv[1:] not in (["test"], ["all"]):
        sys.exit("usage: scripts/classify/faces.py test|all")
    print("\n".join(packages(TEST if sys.argv[1] == "test" else TRAIN + CALIBRATE + TEST)))
