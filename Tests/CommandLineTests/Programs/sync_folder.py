"""The files of a shared folder, as SyncFormat.md specifies them: segments with frames."""

import os
import struct
import time

MAGIC = bytes.fromhex("8b4c4453594e0d0a")
PUT, REMOVE = 1, 2


class Refused(Exception):
    """The bytes are not what the specification says."""


def refuse_unless(condition, reason):
    if not condition:
        raise Refused(reason)


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def segment_name(text):
    """The stamp and id of a segment's file name; None for another file."""
    stamp, dash, rest = text[:16], text[16:17], text[17:]
    if dash != "-" or rest[16:] != ".segment":
        return None
    try:
        numbers = bytes.fromhex(stamp), bytes.fromhex(rest[:16])
    except ValueError:
        return None
    if text != text.lower() or [len(number) for number in numbers] != [8, 8]:
        return None
    return tuple(int.from_bytes(number, "big") for number in numbers)


def header_length(data, stamp, number, writer):
    """The length of a segment's header, which was checked."""
    refuse_unless(len(data) >= 24 and data[:8] == MAGIC, "no segment")
    version, _, length = struct.unpack_from("<HHI", data, 8)
    refuse_unless(version == 1 and 85 <= length <= len(data), "a header of another version, or cut off")
    refuse_unless(crc32c(data[: length - 4]) == int.from_bytes(data[length - 4 : length], "little"), "a damaged header")
    refuse_unless(struct.unpack_from("<QQ", data, 16) == (stamp, number), "a header of another segment")
    size = data[80]
    refuse_unless(data[81 : 81 + size] == writer.encode(), "a header of another writer")
    return length


def frames(data, number, offset):
    """The frames of a segment, up to the first one that is not whole."""
    while offset + 8 <= len(data):
        size, checksum = struct.unpack_from("<II", data, offset)
        body = data[offset + 8 : offset + 8 + size]
        if size < 18 or len(body) < size:
            return
        if crc32c(struct.pack("<QQ", number, offset) + data[offset : offset + 4] + body) != checksum:
            return
        kind, name_size, stamp, place = struct.unpack_from("<BBQQ", body)
        yield kind, body[18 : 18 + name_size].decode(), (stamp, place), body[18 + name_size :]
        offset += 8 + size


def segments(folder, writer):
    """The segments of a writer, in order: stamp, id, bytes."""
    found = []
    for entry in os.listdir(os.path.join(folder, writer)):
        name = segment_name(entry)
        if name:
            with open(os.path.join(folder, writer, entry), "rb") as file:
                found.append((*name, file.read()))
    return sorted(found)


def records(folder):
    """The records that count, by writer and name."""
    found = {}
    for writer in sorted(os.listdir(folder)):
        if len(writer) != 32 or not os.path.isdir(os.path.join(folder, writer)):
            continue
        latest = {}
        for stamp, number, data in segments(folder, writer):
            try:
                start = header_length(data, stamp, number, writer)
            except Refused:
                continue
            for kind, name, origin, content in frames(data, number, start):
                if name not in latest or origin > latest[name][0]:
                    latest[name] = origin, kind, content
        for name, (_, kind, content) in latest.items():
            if kind == PUT:
                found[writer, name] = content
    return found


def publish(folder, writer, changes):
    """Appends a segment with records, given as pairs of name and content."""
    place = os.path.join(folder, writer)
    os.makedirs(place, mode=0o700, exist_ok=True)
    before = segments(folder, writer)
    previous = (before[-1][0], before[-1][1], len(before[-1][2])) if before else (0, 0, 0)
    stamp = max(int(time.time() * 1_000_000), previous[0] + 1)
    number = int.from_bytes(os.urandom(8), "big") or 1
    name = writer.encode()
    length = 81 + len(name) + 8
    header = MAGIC + struct.pack("<HHI", 1, 2 if before else 0, length) + struct.pack("<QQ", stamp, number)
    header += struct.pack("<QQQ", *previous) + struct.pack("<QQQ", 0, 0, 1 << 30)
    header += bytes([len(name)]) + name + struct.pack("<I", 0)
    data = header + struct.pack("<I", crc32c(header))
    refuse_unless(len(data) == length, "a header of another length")
    for record, content in changes:
        offset = len(data)
        encoded = record.encode()
        body = struct.pack("<BBQQ", PUT, len(encoded), stamp, offset) + encoded + content
        size = struct.pack("<I", len(body))
        checksum = crc32c(struct.pack("<QQ", number, offset) + size + body)
        data += size + struct.pack("<I", checksum) + body
    path = os.path.join(place, f"{stamp:016x}-{number:016x}.segment")
    with open(os.open(path + ".part", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    os.rename(path + ".part", path)
