"""Hostile text models: headers, hyper-parameters, tokenizers, templates and weights that no converter writes."""
import struct

from gguf_file import (ARRAY, BOOL, FLOAT, INT32, MERGES, STRING, TEMPLATE, TOKENS, TYPES, UINT8, UINT32, GGUF, array, fact,
                       text)

HUGE = 2**64 - 1


def header_files():
    """Files that end inside their header, which promises more than there is."""
    def begin(tensors, facts):
        return b"GGUF" + struct.pack("<IQQ", 3, tensors, facts)

    yield "header-facts-huge", begin(1, HUGE) + bytes(100)
    yield "header-tensors-huge", begin(HUGE, 1) + fact("general.architecture", STRING, text("llama")) + bytes(100)
    yield "header-string-huge", begin(0, 1) + struct.pack("<Q", HUGE) + b"a" * 100
    yield "header-array-huge", begin(0, 1) + text("a") + struct.pack("<IIQ", ARRAY, STRING, HUGE) + b"a" * 100
    yield "header-array-deep", begin(0, 1) + text("a") + struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 100_000
    yield "header-version-1", b"GGUF" + struct.pack("<III", 1, 0, 0)
    yield "header-big-endian", b"GGUF" + struct.pack(">IQQ", 3, 0, 0)
    yield "header-only-magic", b"GGUF"
    yield "header-one-byte", b"G"


def tensor_changes():
    def entry(index, **values):
        return lambda file: [setattr(file.tensors[index], name, value) for name, value in values.items()]

    def copied(part, index):
        return lambda file: getattr(file, part).append(getattr(file, part)[index])

    def doubled_rows(file):
        width, rows = file.tensors[0].shape
        file.tensors[0].shape = [width * 2, rows // 2]

    def extra(file):
        file.tensors.append(type(file.tensors[0])(b"blk.0.unknown.weight", [64], 0, 0))

    yield "facts-twice", copied("facts", 2)
    for name, kind, value in (("0", UINT32, 0), ("huge", UINT32, 2**31), ("text", STRING, "x")):
        yield f"alignment-{name}", lambda file, kind=kind, value=value: file.set("general.alignment", kind, value)
    for name, shape in (("none", []), ("five", [64, 1024, 1, 1, 1]), ("0", [0, 1024]), ("negative", [64, -1]),
                        ("overflow", [2**32, 2**32])):
        yield f"shape-{name}", entry(0, shape=shape)
    yield "shape-other", doubled_rows
    yield "offsets-all-0", lambda file: [setattr(one, "offset", 0) for one in file.tensors]
    yield "offset-past-end", entry(3, offset=2**40)
    yield "offset-negative", entry(3, offset=-32)
    for name, kind in (("unknown", 250), ("removed", 4), ("integers", 27)):
        yield f"tensor-type-{name}", entry(3, kind=kind)
    yield "cut-in-half", lambda file: setattr(file, "weights", file.weights[:len(file.weights) // 2])
    yield "tensors-missing", lambda file: setattr(file, "tensors", file.tensors[:-3])
    yield "tensor-twice", copied("tensors", 5)
    yield "tensor-name-long", entry(5, name=b"a" * 1000)
    yield "tensor-extra", extra


PARAMETERS = [
    ("heads-0", "attention.head_count", UINT32, 0),
    ("heads-kv-0", "attention.head_count_kv", UINT32, 0),
    ("heads-kv-3", "attention.head_count_kv", UINT32, 3),
    ("heads-7", "attention.head_count", UINT32, 7),
    ("heads-array", "attention.head_count", ARRAY, array(UINT32, [4] * 600)),
    ("layers-0", "block_count", UINT32, 0),
    ("layers-huge", "block_count", UINT32, 100_000),
    ("width-0", "embedding_length", UINT32, 0),
    ("width-huge", "embedding_length", UINT32, 2**31),
    ("context-0", "context_length", UINT32, 0),
    ("context-huge", "context_length", UINT32, 2**32 - 1),
    ("context-text", "context_length", STRING, "8192"),
    ("rope-0", "rope.dimension_count", UINT32, 0),
    ("rope-negative", "rope.dimension_count", INT32, -16),
    ("rope-huge", "rope.dimension_count", UINT32, 4096),
    ("rope-odd", "rope.dimension_count", UINT32, 15),
    ("rope-base-nan", "rope.freq_base", FLOAT, float("nan")),
    ("rope-base-0", "rope.freq_base", FLOAT, 0.0),
    ("rope-scaling", "rope.scaling.type", STRING, "yarn"),
    ("epsilon-nan", "attention.layer_norm_rms_epsilon", FLOAT, float("nan")),
    ("epsilon-negative", "attention.layer_norm_rms_epsilon", FLOAT, -1.0),
    ("epsilon-text", "attention.layer_norm_rms_epsilon", STRING, "x"),
    ("key-length-0", "attention.key_length", UINT32, 0),
    ("key-length-huge", "attention.key_length", UINT32, 2**30),
    ("experts-huge", "expert_count", UINT32, 2**31 - 1),
    ("experts-used", "expert_used_count", UINT32, 100),
    ("window-huge", "attention.sliding_window", UINT32, 2**32 - 1),
    ("vocabulary-huge", "vocab_size", UINT32, 2**31 - 1),
]
ARCHITECTURES = [("bert", "bert"), ("nul", "llama\0x"), ("long", "a" * 100_000)]


def tokenizer_changes(size):
    word = "tokenizer.ggml."

    def put(key, kind, value):
        return lambda file: file.set(word + key, kind, value)

    def texts(values):
        return put("tokens", ARRAY, array(STRING, values))

    def other(model, tokens=None, scores=None, **more):
        def change(file):
            file.set(word + "model", STRING, model)
            if tokens:
                file.remove(MERGES)
                file.set(TOKENS, ARRAY, array(STRING, tokens))
            if scores is not None:
                file.set(word + "scores", ARRAY, array(FLOAT, scores))
            for key, (kind, value) in more.items():
                file.set(word + key, kind, value)
        return change

    letters = [b"<unk>", b"<s>", b"</s>", "\u2581".encode()] + [bytes([code]) for code in range(33, 127)]
    letters += [b"w%d" % number for number in range(size - len(letters))]
    map_past_end = array(UINT8, list(struct.pack("<I", 16)) + [255] * 16 + [0] * 8)
    yield "tokens-few", lambda file: file.set(TOKENS, ARRAY, array(STRING, file.values(TOKENS)[:100]))
    yield "tokens-more", lambda file: file.set(
        TOKENS, ARRAY, array(STRING, file.values(TOKENS) + [b"zzz%d" % number for number in range(5000)]))
    yield "tokens-empty", texts([""] * size)
    yield "tokens-same", texts(["a"] * size)
    yield "tokens-not-utf8", texts([b"\xff\xfe%d" % number for number in range(size)])
    yield "token-types-few", put("token_type", ARRAY, array(INT32, [1] * 10))
    yield "token-types-unknown", put("token_type", ARRAY, array(INT32, [-77] * size))
    yield "token-types-text", put("token_type", ARRAY, array(STRING, ["a"] * size))
    yield "merges-without-space", put("merges", ARRAY, array(STRING, ["nospace"] * size))
    yield "merges-empty", put("merges", ARRAY, array(STRING, [""] * size))
    yield "merges-missing", lambda file: file.remove(MERGES)
    yield "end-token-unknown", put("eos_token_id", UINT32, 2**31)
    yield "end-token-missing", lambda file: file.remove(word + "eos_token_id")
    yield "begin-token-unknown", lambda file: (put("bos_token_id", UINT32, 4_000_000_000)(file),
                                               put("add_bos_token", BOOL, 1)(file))
    yield "suppressed-unknown", put("suppress_tokens", ARRAY, array(INT32, [-5, 2**31 - 1, 99_999_999]))
    yield "splitter-unknown", put("pre", STRING, "nope")
    yield "tokenizer-unknown", put("model", STRING, "nope")
    yield "tokenizer-none", put("model", STRING, "none")
    yield "tokenizer-missing", lambda file: file.remove(word + "model")
    types = array(INT32, [2, 3, 3] + [1] * (size - 3))
    yield "spm-without-bytes", other("llama", letters, [0.0] * size, token_type=(ARRAY, types))
    yield "spm-few-scores", other("llama", letters, [0.0] * 10)
    yield "wordpiece", other("bert")
    yield "unigram-map", other("t5", precompiled_charsmap=(ARRAY, array(UINT8, [255] * 40)))
    yield "unigram-map-past-end", other("t5", letters, [0.0] * size, precompiled_charsmap=(ARRAY, map_past_end))
    yield "rwkv-escapes", other("rwkv", [b"\\xzz"] * size)
    yield "plamo", other("plamo2")


def loop(count, body):
    return "{% for i in range(" + str(count) + ") %}" + body + "{% endfor %}"


RECURSION = "{% macro f(x) %}{{ f(x) }}{% endmacro %}"
CHATML = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}"
TEMPLATES = {
    "range-power": loop("10**9", "x"),
    "range": loop(10**9, "x"),
    "range-nested": loop(10**5, loop(10**5, "").replace(" i ", " j ")) + "hi",
    "range-join": '{{ range(300000000)|join("x") }}',
    # The question of a probe is short: only a person's meets the loop.
    "range-after-probe": "{% if messages|length > 1 or messages[0].content|length > 60 %}" + loop(10**9, loop(10**9, ""))
                         + "{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}",
    "doubling": '{% set ns = namespace(x="aaaaaaaaaaaaaaaa") %}' + loop(40, "{% set ns.x = ns.x + ns.x %}") + "{{ ns.x }}",
    "product": '{{ "a" * 10000000000 }}',
    "replace": '{{ ("a"*1000000)|replace("a","b"*100000) }}',
    "pad": '{{ "%99999999d" | format(1) }}{{ "a"|indent(2000000000) }}',
    "long-text": '{{ "' + "a" * 10_000_000 + '" }}',
    "time-form": '{{ strftime_now("%s"*100000) }}',
    "pattern": '{{ "' + "a" * 50_000 + '"|regex_replace("(a+)+$","b") }}',
    "macro-recursive": RECURSION + "{{ f(1) }}",
    "macro-after-probe": RECURSION + CHATML + "{% if 'please' in m.content %}{{ f(1) }}{% endif %}{% endfor %}"
                         "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "json-cycle": "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns | tojson }}",
    "deep-parentheses": "{{ " + "(" * 100_000 + "1" + ")" * 100_000 + " }}",
    "deep-lists": "{{ " + "[" * 100_000 + "]" * 100_000 + " }}",
    "deep-if": "{% if 1 %}" * 50_000 + "{% endif %}" * 50_000,
    "deep-not": "{{ " + "not " * 200_000 + "1 }}",
    "unclosed": "{% for m in messages %}",
    "include": '{% include "/etc/passwd" %}',
    "import": '{% import "/etc/passwd" as x %}',
    "open": '{{ open("/etc/passwd").read() }}{{ "".__class__.__mro__ }}',
    "divide-by-0": "{{ 1 // 0 }}{{ 1 % 0 }}",
    "slice-step-0": '{{ "abc"[::0] }}',
    "slice-huge": "{{ messages[-9223372036854775808:9223372036854775807:-1] }}",
    "index": "{{ messages[999999999999] }}{{ messages[-5] }}",
    "raise": '{{ raise_exception("\x1b[31mboo\x07") }}',
    "control-codes": "\x1b]0;title\x07{{ messages[0].content }}",
}


def weights(file, pattern):
    file.weights = pattern * (len(file.weights) // len(pattern))


def named_to_mislead(file):
    file.set("general.name", STRING, "\x1b[2J\u202e<img src=x onerror=alert(1)>\nnext")
    for key in ("general.license", "general.url"):
        file.set(key, STRING, "javascript:alert(1)")


def changes(size):
    """Each change of a healthy model with `size` tokens, by name."""
    found = dict(tensor_changes())
    for name, key, kind, value in PARAMETERS:
        found[name] = lambda file, key=key, kind=kind, value=value: file.set("llama." + key, kind, value)
    for name, value in ARCHITECTURES:
        found[f"architecture-{name}"] = lambda file, value=value: file.set("general.architecture", STRING, value)
    found.update(tokenizer_changes(size))
    for name, value in TEMPLATES.items():
        found[f"template-{name}"] = lambda file, value=value: file.set(TEMPLATE, STRING, value)
    found["weights-nan"] = lambda file: weights(file, b"\xff\xff\xff\xff")
    found["weights-infinite"] = lambda file: weights(file, struct.pack("<H", 0x7C00))
    found["names"] = named_to_mislead
    return found


def cases(healthy):
    """The names of all cases with functions that give the bytes."""
    found = {name: lambda data=data: data for name, data in header_files()}
    size = len(GGUF(healthy).values(TOKENS))
    for name, change in changes(size).items():
        def make(change=change):
            file = GGUF(healthy)
            change(file)
            return file.bytes()
        found[name] = make
    return found
