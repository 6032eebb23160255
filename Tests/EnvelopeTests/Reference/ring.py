"""A second implementation of key rings, and of opening a value with one, from the specification (Envelope.md).

    ring.py open SOURCE RING KEYCHAIN VALUE DOMAIN SCOPE NAME    prints the value in the file VALUE, of that address
    ring.py store SOURCE RING VALUE DOMAIN SCOPE NAME            the same in a store that is sealed itself
    ring.py keys SOURCE RING                                     prints the ids of a store's keys, and where they sealed

SOURCE is file:PATH for a key in a file, or passphrase:TEXT. RING is the file of the keychain's store, or of the sealed store,
with the address localdata.keys/ring, and KEYCHAIN the one with the master ring.
"""

import struct
import sys

from envelope import RING, Refused, open_envelope, parse_header, refuse_unless

MAGIC = bytes.fromhex("894c444b")
USES = {1: "active", 2: "decrypt-only", 3: "disabled"}
DEFAULT_RING = b"LocalData\0master"


def parse_ring(data):
    """The keys by their ids, each with its use and material, and the places."""
    at = 0

    def take(count):
        nonlocal at
        refuse_unless(len(data) - at >= count, "the ring is too short")
        at += count
        return data[at - count : at]

    def number(size):
        return int.from_bytes(take(size), "big")

    refuse_unless(take(4) == MAGIC, "no ring")
    refuse_unless(number(1) == 1 and number(1) == 0, "version")
    keys, places = {}, []
    for _ in range(number(2)):
        key_id, use, _created = take(16), number(1), number(8)
        refuse_unless(use in USES and key_id not in keys, "key")
        keys[key_id] = (USES[use], take(number(2)))
    for _ in range(number(4)):
        take(8)
        places.append([take(number(2)).decode("utf-8") for _ in range(4)])
    refuse_unless(at == len(data), "bytes behind the ring")
    return keys, places


def opened(sealed, keys, domain, scope, name):
    """The value of an address that a ring's key has sealed."""
    key_id = parse_header(sealed)["id"]
    refuse_unless(key_id in keys and keys[key_id][0] != "disabled", "the ring has no such key")
    return open_envelope(sealed, keys[key_id][1], key_id, {"domain": domain, "scope": scope, "name": name})[0]


def material(source):
    kind, _, rest = source.partition(":")
    if kind == "file":
        with open(rest, "rb") as file:
            return file.read()
    return rest.encode("utf-8").removesuffix(b"\n")


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def store_ring(source, path):
    address = {"domain": "localdata.keys", "scope": "", "name": "ring"}
    return parse_ring(open_envelope(contents(path), material(source), None, address)[0])


def main(command, source, ring, *rest):
    keys, places = store_ring(source, ring)
    if command == "keys":
        for key_id, (use, _) in keys.items():
            print(key_id.hex(), use)
        for store, domain, scope, folder in places:
            print(store, f"{domain}:{scope}", folder)
        return
    if command == "open":
        keychain, *rest = rest
        value = contents(rest[0])
        service, account = parse_header(value)["fields"].get(RING, DEFAULT_RING).decode("utf-8").split("\0", 1)
        keys, _ = parse_ring(opened(contents(keychain), keys, "keychain", service, account))
    path, domain, scope, name = rest
    sys.stdout.buffer.write(opened(contents(path), keys, domain, scope, name))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as reason:
        sys.exit(f"refused: {reason}")
