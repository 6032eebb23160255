"""Forges files with knowledge of the formats, but of none of the keys.

    forge.py ring FILE                                   a key ring
    forge.py value FILE SERVICE ACCOUNT DOMAIN SCOPE NAME TEXT    a value that a key of that ring has sealed
    forge.py slow FILE LIKE FUNCTION ITERATIONS MEMORY   an envelope with the key's id of the file LIKE, and a slow derivation

Run with Tests/EnvelopeTests/Reference in PYTHONPATH.
"""

import os
import struct
import sys

from envelope import (
    MEMORY, RING, SALT, FUNCTION_NUMBERS, address_bytes, make_header, parse_header, record_key, seal_chunks,
)

KEY_ID, KEY = bytes([0x11]) * 16, bytes([0x22]) * 32


def ring():
    key = KEY_ID + struct.pack(">BQH", 1, 1_700_000_000, len(KEY)) + KEY
    return bytes.fromhex("894c444b0100") + struct.pack(">H", 1) + key + struct.pack(">I", 0)


def value(service, account, domain, scope, name, text):
    salt = os.urandom(32)
    header = make_header(2, 16, 16, 0, KEY_ID, salt, {RING: f"{service}\0{account}".encode()})
    key = record_key(KEY, salt, 2, 16, None, None)
    return header + seal_chunks(key, 2, 16, text.encode(), header + address_bytes(domain, scope, name))


def slow(like, function, iterations, memory):
    with open(like, "rb") as file:
        known = parse_header(file.read())
    fields = {SALT: os.urandom(16)}
    if int(memory) > 0:
        fields[MEMORY] = struct.pack(">I", int(memory))
    if RING in known["fields"]:
        fields[RING] = known["fields"][RING]
    header = make_header(
        2, FUNCTION_NUMBERS[function], 16, int(iterations), known["id"], os.urandom(32), fields)
    return header + os.urandom(40)


if __name__ == "__main__":
    made = {"ring": ring, "value": value, "slow": slow}[sys.argv[1]](*sys.argv[3:])
    with open(sys.argv[2], "wb") as file:
        file.write(made)
