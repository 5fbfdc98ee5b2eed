"""Mutations of a healthy model by seed: bytes of the header, values of the metadata, pieces of templates."""
import random
import struct

from gguf_file import ARRAY, BOOL, FLOAT, NUMBERS, STRING, TEMPLATE, GGUF, text

INTERESTING = [0, 1, 2, 3, 7, 15, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]
REALS = [0.0, -0.0, -1.0, 1e-45, 1e38, float("inf"), float("-inf"), float("nan")]
PIECES = [
    "{% for i in range(1000000) %}", "{% endfor %}", "{% if messages %}", "{% else %}", "{% endif %}", "{{ messages }}",
    "{{ messages | tojson }}", "{% set ns = namespace(a=1) %}", "{% set ns.a = ns %}", "{{ ns | tojson }}", "{{ ns.a }}",
    "{% macro f(x) %}{{ f(x) }}{% endmacro %}", "{{ f(1) }}", "{{ messages[0] + messages }}", "{{ 'a' * 100000000 }}",
    "{{ -1 ** 0.5 }}", "{{ 1 / 0 }}", "{{ messages[::-1][::0] }}", "{{ [] | first }}", "{{ [] | last }}", "{{ [] | min }}",
    "{{ {} | dictsort }}", "{{ messages | groupby('role') }}", "{{ 'x' | int(base=99) }}", "{{ range(-9223372036854775807) }}",
    "{{ messages | map(attribute='content') | list | join }}", "{{ undefined.a.b }}", "{{ (((((", "]]]]] }}", "{%", "%}", "{#",
    "{{ 9223372036854775807 + 1 }}", "{{ -9223372036854775807 - 2 }}", "{{ '%s' % messages }}", "{% break %}", "{% continue %}",
    "{% call f(1) %}x{% endcall %}", "{% filter upper %}", "{% endfilter %}", "{% generation %}", "\x00", "\udcff",
    "{{ not " * 500, "{{ " + "[" * 500, "{% if a %}" * 500,
]


def bytes_of_header(healthy, dice):
    """Changes some bytes before the first long array, where a header says most in few bytes, and some anywhere in it."""
    data = bytearray(healthy)
    length = len(GGUF(healthy).header())
    for _ in range(dice.choice([1, 1, 2, 4, 16])):
        place = dice.randrange(4, dice.choice([24, 1000, length]))
        if dice.random() < 0.3:
            data[place:place + 8] = struct.pack("<Q", dice.choice(INTERESTING))
        else:
            data[place] = dice.choice([data[place] ^ 1 << dice.randrange(8), dice.randrange(256), 0, 255])
    return bytes(data)


def value_of_fact(healthy, dice):
    """Gives one to three facts another value, another type or no entry."""
    file = GGUF(healthy)
    for _ in range(dice.choice([1, 1, 2, 3])):
        entry = dice.choice(file.facts)
        kind = entry[1]
        if dice.random() < 0.15:
            file.facts.remove(entry)
        elif kind == FLOAT:
            entry[2] = struct.pack("<f", dice.choice(REALS))
        elif kind == STRING:
            entry[2] = text(dice.choice([b"", b"\0", b"\xff" * 9, b"a" * 70_000, entry[2][8:][::-1]]))
        elif kind == ARRAY:
            inner, count = struct.unpack_from("<IQ", entry[2])
            entry[2] = dice.choice([
                struct.pack("<IQ", inner, 0), struct.pack("<IQ", dice.randrange(14), count) + entry[2][12:],
                struct.pack("<IQ", inner, dice.choice(INTERESTING)) + entry[2][12:], entry[2][:12] + entry[2][12:][::-1]])
        elif kind == BOOL:
            entry[2] = bytes([dice.choice([0, 1, 2, 255])])
        else:
            size = struct.calcsize(NUMBERS[kind])
            entry[2] = (dice.choice(INTERESTING) % 256**size).to_bytes(size, "little")
    return file.bytes()


def spliced_template(healthy, dice):
    """Puts pieces of templates into the healthy one, and cuts some of it out."""
    file = GGUF(healthy)
    template = file.find(TEMPLATE)[2][8:].decode()
    for _ in range(dice.choice([1, 2, 4, 8])):
        place = dice.randrange(len(template) + 1)
        end = place + (dice.randrange(20) if dice.random() < 0.3 else 0)
        template = template[:place] + dice.choice(PIECES) + template[end:]
    file.set(TEMPLATE, STRING, template.encode(errors="surrogateescape"))
    return file.bytes()


WAYS = [("bytes", bytes_of_header), ("facts", value_of_fact), ("spliced", spliced_template)]


def cases(healthy, count, seed):
    """So many cases, a third of each kind."""
    found = {}
    for number in range(count):
        name, change = WAYS[number % len(WAYS)]
        found[f"mutated-{name}-{number}"] = lambda change=change, number=number: change(
            healthy, random.Random(f"{seed}-{number}"))
    return found
