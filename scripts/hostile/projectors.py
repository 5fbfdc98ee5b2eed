"""Hostile projectors: the part of a vision model that turns pictures into tokens."""
from gguf_file import ARRAY, BOOL, FLOAT, STRING, UINT32, GGUF, array

NUMBERS = [
    ("image_size", UINT32, (0, 1, 2**31 - 1)),
    ("patch_size", UINT32, (0, 1, 2**31)),
    ("attention.head_count", UINT32, (0, 7, 2**31)),
    ("block_count", UINT32, (0, 100_000)),
    ("embedding_length", UINT32, (0, 2**31)),
    ("projection_dim", UINT32, (0, 1, 2**31)),
    ("attention.layer_norm_epsilon", FLOAT, (float("nan"), -1.0)),
    ("spatial_merge_size", UINT32, (0, 1000)),
    ("window_size", UINT32, (0,)),
    ("n_wa_pattern", UINT32, (0, 2**31)),
]
FACTS = [
    ("mean-one", "clip.vision.image_mean", ARRAY, array(FLOAT, [0.5])),
    ("mean-text", "clip.vision.image_mean", STRING, "x"),
    ("deviation-0", "clip.vision.image_std", ARRAY, array(FLOAT, [0.0] * 3)),
    ("type-unknown", "clip.projector_type", STRING, "nope"),
    ("type-gemma3", "clip.projector_type", STRING, "gemma3"),
    ("type-resampler", "clip.projector_type", STRING, "resampler"),
    ("type-pixtral", "clip.projector_type", STRING, "pixtral"),
    ("without-encoder", "clip.has_vision_encoder", BOOL, 0),
    ("audio", "clip.has_audio_encoder", BOOL, 1),
]


def more():
    yield "healthy", lambda file: None
    yield "tensors-missing", lambda file: setattr(file, "tensors", file.tensors[:-3])
    yield "cut", lambda file: setattr(file, "weights", file.weights[:1000])
    yield "weights-nan", lambda file: setattr(file, "weights", b"\xff" * len(file.weights))
    yield "pixels", lambda file: (file.set("clip.vision.image_min_pixels", UINT32, 2**31 - 1),
                                  file.set("clip.vision.image_max_pixels", UINT32, 1))


def cases(healthy):
    changes = dict(more())
    for key, kind, values in NUMBERS:
        for value in values:
            word = str(value).replace(".", "-").replace("--", "-").lstrip("-")
            changes[f"{key.rpartition('.')[2].replace('_', '-')}-{word}"] = (
                lambda file, key=key, kind=kind, value=value: file.set("clip.vision." + key, kind, value))
    for name, key, kind, value in FACTS:
        changes[name] = lambda file, key=key, kind=kind, value=value: file.set(key, kind, value)
    found = {}
    for name, change in changes.items():
        def make(change=change):
            file = GGUF(healthy)
            change(file)
            return file.bytes()
        found["projector-" + name] = make
    return found
