#!/usr/bin/env python3
"""A second reader and writer of .osm.pbf, written apart from the library's, and what both make of
the same files: generated ones always, real extracts when DPLOC_DATA is set.

usage: roads_reader_test.py DPLOC ROADS_DUMP"""
import glob
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

# ---- reading: fields into lists, whole file in memory ----


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """{number: [values]} of a message; a value is an int or bytes."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = data[at:at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def packed(data, signed):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append((value >> 1) ^ -(value & 1) if signed else value)
    return values


def sums(values):
    total, out = 0, []
    for value in values:
        total += value
        out.append(total)
    return out


def int64(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def blocks(path):
    with open(path, "rb") as file:
        while head := file.read(4):
            header = fields(file.read(struct.unpack(">I", head)[0]))
            blob = fields(file.read(header[3][0]))
            data = blob[1][0] if 1 in blob else zlib.decompress(blob[3][0])
            if header[1][0] == b"OSMData":
                yield fields(data)


def lines_of(path):
    for block in blocks(path):
        texts = fields(block[1][0]).get(1, []) if 1 in block else []
        step = block.get(17, [100])[0]
        north, east = int64(block.get(19, [0])[0]), int64(block.get(20, [0])[0])
        place = lambda lat, lon: (1e-9 * (north + step * lat), 1e-9 * (east + step * lon))
        for group in map(fields, block.get(2, [])):
            for node in map(fields, group.get(1, [])):
                raw = [packed(bytes_of(node[k][0]), True)[0] for k in (1, 8, 9)]
                yield "n %d %.8f %.8f" % (raw[0], *place(*raw[1:]))
            for dense in map(fields, group.get(2, [])):
                columns = [sums(packed(dense[k][0], True)) if k in dense else [] for k in (1, 8, 9)]
                for number, lat, lon in zip(*columns):
                    yield "n %d %.8f %.8f" % (number, *place(lat, lon))
            for way in map(fields, group.get(3, [])):
                refs = sums(packed(way.get(8, [b""])[0], True))
                tags = zip(packed(way.get(2, [b""])[0], False), packed(way.get(3, [b""])[0], False))
                text = "".join(" %s=%s" % (texts[k].decode(), texts[v].decode()) for k, v in tags)
                yield "w %d %s%s" % (way[1][0], ",".join(map(str, refs)), text)


# ---- writing: every freedom that the format leaves ----


def bytes_of(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return value << 1 if value >= 0 else (-value << 1) - 1


def field(number, value):
    if isinstance(value, int):
        return bytes_of(number << 3) + bytes_of(value % (1 << 64))
    return bytes_of(number << 3 | 2) + bytes_of(len(value)) + value


def differences(values):
    return b"".join(bytes_of(zigzag(b - a)) for a, b in zip([0, *values], values))


def blob(kind, data, squeeze):
    body = field(2, len(data)) + field(3, zlib.compress(data)) if squeeze else field(1, data)
    header = field(1, kind) + field(2, b"index") + field(3, len(body))
    return struct.pack(">I", len(header)) + header + body


def random_block(rng):
    texts = [b""] + [bytes(rng.choices(b"abcxyz:_", k=rng.randrange(1, 9))) for _ in range(9)]
    parts = [field(1, b"".join(field(1, t) for t in texts))]
    if rng.random() < 0.5:
        parts += [field(17, rng.choice([1, 50, 100])), field(20, 12345)]
        parts += [field(19, rng.randrange(-10**9, 10**9))]
    n = rng.randrange(0, 40)
    ids = [rng.randrange(-10**6, 10**12) for _ in range(n)]
    lats = [rng.randrange(-8 * 10**8, 8 * 10**8) for _ in range(n)]
    lons = [rng.randrange(-17 * 10**8, 17 * 10**8) for _ in range(n)]
    if rng.random() < 0.3:
        rows = [field(1, zigzag(i)) + field(8, zigzag(a)) + field(9, zigzag(o))
                for i, a, o in zip(ids, lats, lons)]
        nodes = b"".join(field(1, row) for row in rows)
    else:
        nodes = field(2, field(8, differences(lats)) + field(1, differences(ids))
                      + field(10, b"\0" * n) + field(9, differences(lons)))
    ways = b""
    for number in range(rng.randrange(0, 6)):
        keys, values = ([rng.randrange(10) for _ in range(k)] for k in [rng.randrange(4)] * 2)
        refs = [rng.choice(ids or [1]) for _ in range(rng.randrange(0, 9))]
        tags = [b"".join(map(bytes_of, column)) for column in (keys, values)]
        ways += field(3, field(8, differences(refs)) + field(1, number) + field(4, field(1, 3))
                      + field(3, tags[1]) + field(2, tags[0]))
    parts += [field(2, nodes), field(2, ways), field(2, field(4, b"\x08\x01"))]
    rng.shuffle(parts)
    return b"".join(parts)


def random_file(rng):
    features = field(4, b"OsmSchema-V0.6") + field(4, b"DenseNodes")
    data = blob(b"OSMHeader", features + field(16, b"test"), True)
    for _ in range(rng.randrange(1, 5)):
        data += blob(b"OSMData", random_block(rng), rng.random() < 0.7)
        if rng.random() < 0.3:
            data += blob(b"Unknown", b"anything", False)
    return data


# ---- both on the same files ----


def dump(program, path):
    return subprocess.run([program, path], capture_output=True, text=True, check=False)


def compare(program, path):
    result = dump(program, path)
    wanted = list(lines_of(path))
    got = result.stdout.splitlines()
    if result.returncode or got != wanted:
        different = next((p for p in zip(got, wanted) if p[0] != p[1]), ("", ""))
        sys.exit(f"{path}: exit code {result.returncode}, {len(got)} and {len(wanted)} lines, "
                 f"first difference {different}; {result.stderr}")
    return len(wanted)


def bare(kind, body, size=None):
    """A block with any body, and any size said of it."""
    header = field(1, kind) + field(3, len(body) if size is None else size)
    return struct.pack(">I", len(header)) + header + body


BAD_GROUPS = {
    "columns of different length": field(2, field(1, b"\2\2") + field(8, b"\2")
                                         + field(9, b"\2\2")),
    "a tag beyond the table": field(3, field(1, 1) + field(2, b"\5") + field(3, b"\5")),
    "a key without a value": field(3, field(1, 1) + field(2, b"\0")),
    "a length beyond the end": bytes_of(3 << 3 | 2) + bytes_of(99),
    "a latitude of 700 degrees": field(2, field(1, b"\2") + field(9, b"\2")
                                       + field(8, bytes_of(zigzag(7 * 10**9)))),
    "an endless number": field(2, field(1, b"\xff" * 12) + field(8, b"\0") + field(9, b"\0")),
}


def hostile():
    """Names and bytes of files that must be refused with a sentence."""
    begin = blob(b"OSMHeader", field(4, b"DenseNodes"), True)
    yield "a 1 GB blob", begin + bare(b"OSMData", b"\0" * 5, 1 << 30)
    yield "a 1 GB header", begin + struct.pack(">I", 1 << 30) + b"\0" * 100
    packed_two = field(3, zlib.compress(b"\x0a\0"))
    yield "unpacks to less", begin + bare(b"OSMData", field(2, 3) + packed_two)
    yield "unpacks to more", begin + bare(b"OSMData", field(2, 1) + packed_two)
    bomb = field(2, 40 << 20) + field(3, zlib.compress(bytes(40 << 20)))
    yield "unpacks to 40 MB", begin + bare(b"OSMData", bomb)
    yield "other packing", begin + bare(b"OSMData", field(4, b"\1\2"))
    yield "nothing in it", begin + bare(b"OSMData", b"")
    for name, group in BAD_GROUPS.items():
        data = field(1, field(1, b"")) + field(2, group)
        yield name, begin + blob(b"OSMData", data, False)
    yield "no header", blob(b"OSMData", b"", False)
    yield "a feature nobody knows", blob(b"OSMHeader", field(4, b"HistoricalInformation"), True)
    yield "XML", b"<?xml version='1.0'?><osm/>"
    yield "empty", b""


def check_hostile(program, folder):
    for number, (name, data) in enumerate(hostile()):
        path = os.path.join(folder, f"bad{number}.osm.pbf")
        with open(path, "wb") as file:
            file.write(data)
        result = dump(program, path)
        if result.returncode != 1 or path not in result.stderr or "(" not in result.stderr:
            sys.exit(f"{name}: exit code {result.returncode}, said: {result.stderr}")


def check_cut(program, folder, good):
    """However a file is cut, it is refused, unless the cut is between two blocks."""
    ends, at = {0}, 0
    while at < len(good):
        size = struct.unpack(">I", good[at:at + 4])[0]
        at += 4 + size + fields(good[at + 4:at + 4 + size])[3][0]
        ends.add(at)
    path = os.path.join(folder, "cut.osm.pbf")
    for length in range(1, len(good), max(1, len(good) // 60)):
        with open(path, "wb") as file:
            file.write(good[:length])
        code = dump(program, path).returncode
        if code != (0 if length in ends else 1):
            sys.exit(f"cut to {length} of {len(good)} bytes: exit code {code}")


def main():
    dploc, program = sys.argv[1:3]
    rng, lines = random.Random(1), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(40 * int(os.environ.get("DPLOC_SOAK", "1"))):
            path = os.path.join(folder, f"{number}.osm.pbf")
            with open(path, "wb") as file:
                file.write(random_file(rng))
            lines += compare(program, path)
        city = os.path.join(folder, "city.osm.pbf")
        subprocess.run([dploc, "simulate", "-q", "--trips", "50", "--roads-out", city, "-o",
                        os.path.join(folder, "city.csv")], check=True)
        lines += compare(program, city)
        with open(city, "rb") as file:
            check_cut(program, folder, file.read())
        check_hostile(program, folder)
    data = os.environ.get("DPLOC_DATA")
    for path in sorted(glob.glob(os.path.join(data, "roads", "*.osm.pbf"))) if data else []:
        lines += compare(program, path)
    skipped = "" if data else "; real extracts skipped: DPLOC_DATA is not set"
    print(f"{lines} lines alike{skipped}")


main()
