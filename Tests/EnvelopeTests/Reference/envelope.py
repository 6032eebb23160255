"""A second implementation of the envelope, written from its specification (Envelope.md).

    envelope.py vectors        prints the test vectors
    envelope.py example        prints the specification's worked example, step by step
    envelope.py open FILE      opens what FILE lists, in the form of the test vectors
"""

import hashlib
import json
import struct
import sys

from primitives import (
    AES256GCM, ChaCha20Poly1305, XChaCha20Poly1305, argon2id, hkdf_sha256, pbkdf2_sha256,
)

MAGIC = bytes.fromhex("894c4445")
CIPHERS = {1: AES256GCM, 2: ChaCha20Poly1305, 3: XChaCha20Poly1305}
CIPHER_NUMBERS = {"AES-256-GCM": 1, "ChaCha20-Poly1305": 2, "XChaCha20-Poly1305": 3}
FUNCTION_NUMBERS = {"HKDF-SHA256": 16, "PBKDF2-HMAC-SHA256": 17, "Argon2id": 18}
TEXT_FIELDS = {"contentType": 1, "serializer": 2, "versionTag": 3, "appVersion": 4, "owner": 5}
SALT, INFO, MEMORY, RING = 16, 17, 18, 32


class Refused(Exception):
    """The bytes cannot be opened."""


def refuse_unless(condition, reason):
    if not condition:
        raise Refused(reason)


# Keys.


def stretched(material, function, iterations, salt, memory):
    if function == 17:
        return pbkdf2_sha256(material, salt, iterations, 32)
    if function == 18:
        return argon2id(material, salt, iterations, memory, 32)
    return material


def derived_id(secret):
    return hkdf_sha256(secret, b"", b"LocalData key id 1", 16)


def record_info(cipher, salt, info):
    """`salt` and `info` are those of a plain HKDF; None where absent."""
    result = b"LocalData envelope 1" + bytes([cipher])
    if salt is not None or info is not None:
        for part in (salt or b"", info or b""):
            result += struct.pack(">I", len(part)) + part
    return result


def record_key(secret, record_salt, cipher, function, salt, info):
    if function != 16:
        salt = info = None
    return hkdf_sha256(secret, record_salt, record_info(cipher, salt, info), 32)


# Headers.


def field(number, content):
    return struct.pack(">BH", number, len(content)) + content


def make_header(cipher, function, exponent, iterations, key_id, salt, fields):
    """`fields` is a dictionary of bytes by number."""
    body = b"".join(field(number, fields[number]) for number in sorted(fields))
    return (
        MAGIC + struct.pack(">BBBBII", 1, cipher, function, exponent, 64 + len(body), iterations) + key_id + salt + body
    )


def parse_header(data):
    refuse_unless(data[:4] == MAGIC, "no envelope")
    refuse_unless(len(data) >= 64, "too short")
    version, cipher, function, exponent, size, iterations = struct.unpack(">BBBBII", data[4:16])
    refuse_unless(version == 1, "version")
    refuse_unless(cipher in CIPHERS, "cipher")
    refuse_unless(function in (16, 17, 18), "derivation")
    refuse_unless(10 <= exponent <= 24, "chunk size")
    refuse_unless(64 <= size <= 16384 and size <= len(data), "header size")
    fields, at, last = {}, 64, 0
    while at < size:
        refuse_unless(size - at >= 3, "field")
        number, length = struct.unpack(">BH", data[at : at + 3])
        refuse_unless(number > last and number in (1, 2, 3, 4, 5, SALT, INFO, MEMORY, RING), "field's number")
        refuse_unless(length <= size - at - 3, "field's size")
        content = data[at + 3 : at + 3 + length]
        if number in (1, 2, 3, 4, 5, RING):
            refuse_unless(length > 0, "empty text")
            try:
                content.decode("utf-8")
            except UnicodeDecodeError:
                raise Refused("text")
        fields[number], at, last = content, at + 3 + length, number
    refuse_unless(MEMORY not in fields or len(fields[MEMORY]) == 4, "memory's size")
    memory = int.from_bytes(fields.get(MEMORY, b""), "big")
    if function == 16:
        refuse_unless(iterations == 0 and MEMORY not in fields, "parameters of HKDF")
    else:
        refuse_unless(SALT in fields and INFO not in fields, "parameters of a slow derivation")
    if function == 17:
        refuse_unless(MEMORY not in fields and 1 <= iterations <= 10_000_000, "parameters of PBKDF2")
    if function == 18:
        refuse_unless(len(fields[SALT]) == 16 and MEMORY in fields, "parameters of Argon2id")
        refuse_unless(8 <= memory <= 1 << 20 and iterations >= 1, "parameters of Argon2id")
        refuse_unless(iterations * memory <= 4 << 20, "work of Argon2id")
    return {
        "cipher": cipher, "function": function, "exponent": exponent, "size": size, "iterations": iterations,
        "id": data[16:32], "salt": data[32:64], "fields": fields, "memory": memory,
    }


# Chunks.


def address_bytes(domain, scope, name):
    parts = (part.encode() for part in (domain, scope, name))
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def chunk_nonce(size, counter, is_last):
    return bytes(size - 9) + struct.pack(">QB", counter, 1 if is_last else 0)


def seal_chunks(key, cipher, exponent, value, data):
    size, seal = 1 << exponent, CIPHERS[cipher](key).seal
    starts = range(0, len(value), size) or [0]
    return b"".join(
        seal(chunk_nonce(CIPHERS[cipher].nonce_size, number, number == len(starts) - 1), value[at : at + size], data)
        for number, at in enumerate(starts)
    )


def open_envelope(sealed, material, key_id, address):
    """`key_id` is the id of a ring's key; None for external key material."""
    header = parse_header(sealed)
    fields, function = header["fields"], header["function"]
    secret = stretched(material, function, header["iterations"], fields.get(SALT), header["memory"])
    refuse_unless(header["id"] == (derived_id(secret) if key_id is None else key_id), "another key")
    key = record_key(secret, header["salt"], header["cipher"], function, fields.get(SALT), fields.get(INFO))
    cipher = CIPHERS[header["cipher"]](key)
    data = sealed[: header["size"]] + address_bytes(**address)
    body, full = sealed[header["size"] :], (1 << header["exponent"]) + 16
    starts = range(0, len(body), full) or [0]
    value = b""
    for number, at in enumerate(starts):
        chunk, is_last = body[at : at + full], number == len(starts) - 1
        refuse_unless(len(chunk) >= 16 and (len(chunk) > 16 or number == 0), "size")
        try:
            value += cipher.open(chunk_nonce(cipher.nonce_size, number, is_last), chunk, data)
        except ValueError:
            raise Refused(f"tag of chunk {number}")
    return value, header


def pattern(size):
    """The value of a vector that gives only a size: 0, 1, ... 250, 0, 1, ..."""
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def value_of(vector):
    return bytes.fromhex(vector["value"]) if "value" in vector else pattern(vector["valueSize"])


# Vectors.


def complete(vector):
    """Adds all fields that follow from a vector's inputs."""
    derivation = vector["derivation"]
    cipher, function = CIPHER_NUMBERS[vector["cipher"]], FUNCTION_NUMBERS[derivation["function"]]
    salt, info = (bytes.fromhex(derivation[part]) if part in derivation else None for part in ("salt", "info"))
    iterations, memory = derivation.get("iterations", 0), derivation.get("memory", 0)
    secret = stretched(bytes.fromhex(vector["material"]), function, iterations, salt, memory)
    key_id = bytes.fromhex(vector["ringKeyID"]) if "ringKeyID" in vector else derived_id(secret)
    fields = {TEXT_FIELDS[name]: text.encode() for name, text in vector["attributes"].items()}
    if salt is not None:
        fields[SALT] = salt
    if info is not None:
        fields[INFO] = info
    if memory:
        fields[MEMORY] = struct.pack(">I", memory)
    if "ring" in vector:
        fields[RING] = vector["ring"].encode()
    record_salt = bytes.fromhex(vector["salt"])
    header = make_header(cipher, function, vector["chunkExponent"], iterations, key_id, record_salt, fields)
    key = record_key(secret, record_salt, cipher, function, salt, info)
    data = header + address_bytes(**vector["address"])
    sealed = header + seal_chunks(key, cipher, vector["chunkExponent"], value_of(vector), data)
    vector.update(keyID=key_id.hex(), recordKey=key.hex(), header=header.hex())
    vector["sealedSHA256"] = hashlib.sha256(sealed).hexdigest()
    if len(sealed) < 8192:
        vector["sealed"] = sealed.hex()
    return vector


def sha256(text):
    return hashlib.sha256(text.encode()).digest()


KEY_ID = "00112233445566778899aabbccddeeff"
ADDRESS = {"domain": "keychain", "scope": "org.example", "name": "token"}
SALT_16 = "000102030405060708090a0b0c0d0e0f"
DERIVATIONS = {
    "hkdf": {"function": "HKDF-SHA256"},
    "hkdf with salt and info": {"function": "HKDF-SHA256", "salt": "73616c74", "info": "696e666f"},
    "pbkdf2": {"function": "PBKDF2-HMAC-SHA256", "iterations": 1000, "salt": SALT_16},
    "argon2id": {"function": "Argon2id", "iterations": 2, "memory": 64, "salt": SALT_16},
}
ATTRIBUTES = {
    "contentType": "text/plain; charset=utf-8", "serializer": "string", "versionTag": "3", "appVersion": "2.1.0",
    "owner": "Caf\u00e9",
}


def vector(cipher, name, derivation="hkdf", outside=False, **inputs):
    material = b"correct horse battery staple" if outside else sha256("a key of a ring")
    result = {
        "name": f"{cipher}, {name}", "cipher": cipher, "derivation": DERIVATIONS[derivation],
        "material": material.hex(), "address": ADDRESS, "salt": sha256(f"salt of {cipher}, {name}").hex(),
        "chunkExponent": 16, "attributes": {},
    }
    if not outside:
        result["ringKeyID"] = KEY_ID
    return complete(result | inputs)


def vectors():
    for cipher in CIPHER_NUMBERS:
        for name in DERIVATIONS:
            for size in (0, 1, 100):
                yield vector(cipher, f"{name}, {size} bytes", name, value=pattern(size).hex())
            yield vector(cipher, f"{name}, material from outside", name, outside=True, value=b"a secret".hex())
        for size in (1023, 1024, 1025, 2048, 2049, 4000):
            yield vector(cipher, f"chunks of 1 KiB, {size} bytes", valueSize=size, chunkExponent=10)
        for size in (65536, 65537):
            yield vector(cipher, f"chunks of 64 KiB, {size} bytes", valueSize=size)
        yield vector(cipher, "attributes", value=b"dark".hex(), attributes=ATTRIBUTES)
        yield vector(cipher, "a named ring", value=b"dark".hex(), ring="org.example/backup")
        yield vector(cipher, "attributes and a named ring", "argon2id", value=b"dark".hex(), attributes=ATTRIBUTES,
                     ring="org.example/backup")
        for name in ("caf\u00e9", "cafe\u0301"):
            address = {"domain": "userDefaults", "scope": "", "name": name}
            yield vector(cipher, f"a name of {len(name.encode())} bytes", value=b"dark".hex(), address=address)


# Bytes that every reader refuses. Where it is affordable the tags are right, so that only the rule refuses them.


def refused(name, cipher=2, function=16, exponent=10, iterations=0, fields=None, address=ADDRESS,
            edit=lambda header: header, chunks=None, skip_tag=False):
    fields = fields or {}
    material, salt = sha256("a key of a ring"), sha256(f"salt of {name}")
    header = edit(make_header(cipher, function, exponent, iterations, bytes.fromhex(KEY_ID), salt, fields))
    data = header + address_bytes(**address)
    body = bytes(20)
    if not skip_tag:
        memory = int.from_bytes(fields.get(MEMORY, b""), "big")
        secret = stretched(material, function, iterations, fields.get(SALT, b""), memory)
        key = record_key(secret, salt, cipher, function, fields.get(SALT), fields.get(INFO))
        seal = CIPHERS[cipher](key).seal
        body = b"".join(
            seal(chunk_nonce(CIPHERS[cipher].nonce_size, number, is_last), value, data)
            for number, is_last, value in chunks or [(0, True, b"dark")]
        )
    return {"name": name, "material": material.hex(), "ringKeyID": KEY_ID, "address": ADDRESS,
            "sealed": (header + body).hex()}


def at(offset, new):
    return lambda header: header[:offset] + new + header[offset + len(new):]


def grown(tail):
    """A header with additional bytes after its fields; its size is right."""
    return lambda header: (at(8, struct.pack(">I", len(header) + len(tail)))(header)) + tail


def refusals():
    salt = bytes.fromhex(SALT_16)
    memory = struct.pack(">I", 64)
    yield refused("another magic", edit=at(0, b"\x88"))
    yield refused("version 0", edit=at(4, b"\x00"))
    yield refused("version 2", edit=at(4, b"\x02"))
    for number in (0, 4, 16, 255):
        yield refused(f"the cipher of number {number}", edit=at(5, bytes([number])))
    for number in (0, 1, 19, 255):
        yield refused(f"the derivation of number {number}", edit=at(6, bytes([number])))
    yield refused("chunks of 512 bytes", exponent=9)
    yield refused("chunks of 32 MiB", exponent=25)
    yield refused("chunks of 2^255 bytes", exponent=255)
    for size in (0, 63, 65, 16385, 0xFFFFFFFF):
        yield refused(f"a header of {size} bytes that has 64", edit=at(8, struct.pack(">I", size)))
    yield refused("hkdf with iterations", iterations=1)
    yield refused("hkdf with memory", fields={MEMORY: memory})
    yield refused("pbkdf2 without a salt", function=17, iterations=1)
    yield refused("pbkdf2 without iterations", function=17, fields={SALT: salt}, skip_tag=True)
    yield refused("pbkdf2 with info", function=17, iterations=1, fields={SALT: salt, INFO: b"info"})
    yield refused("pbkdf2 with memory", function=17, iterations=1, fields={SALT: salt, MEMORY: memory})
    for count in (10_000_001, 0xFFFFFFFF):
        yield refused(f"pbkdf2 with {count} iterations", function=17, iterations=count, fields={SALT: salt},
                      skip_tag=True)
    yield refused("argon2id without a salt", function=18, iterations=1, fields={MEMORY: memory})
    yield refused("argon2id without memory", function=18, iterations=1, fields={SALT: salt}, skip_tag=True)
    yield refused("argon2id without passes", function=18, fields={SALT: salt, MEMORY: memory}, skip_tag=True)
    yield refused("argon2id with info", function=18, iterations=1, fields={SALT: salt, INFO: b"", MEMORY: memory})
    for size in (15, 17):
        yield refused(f"argon2id with a salt of {size} bytes", function=18, iterations=1,
                      fields={SALT: bytes(size), MEMORY: memory})
    for passes, kib in ((1, 7), (1, (1 << 20) + 1), (1, 0xFFFFFFFF), (5, 1 << 20), (0xFFFFFFFF, 8),
                        (0xFFFFFFFF, 0xFFFFFFFF), ((4 << 20) // 64 + 1, 64)):
        yield refused(f"argon2id with {passes} passes over {kib} KiB", function=18, iterations=passes,
                      fields={SALT: salt, MEMORY: struct.pack(">I", kib)}, skip_tag=True)
    for size in (0, 3, 5):
        yield refused(f"memory of {size} bytes", function=18, iterations=1,
                      fields={SALT: salt, MEMORY: bytes(size)}, skip_tag=True)
    for number in (1, 2, 3, 4, 5, 32):
        yield refused(f"an empty text in field {number}", fields={number: b""})
        yield refused(f"no UTF-8 in field {number}", fields={number: b"\xc3\x28"})
    for number in (0, 6, 15, 19, 31, 33, 255):
        yield refused(f"a field of number {number}", fields={number: b"1"})
    yield refused("a field twice", edit=grown(field(1, b"a") + field(1, b"a")))
    yield refused("fields out of order", edit=grown(field(2, b"a") + field(1, b"a")))
    yield refused("a field that ends behind the header", edit=grown(b"\x01\x00\x02a"))
    for size in (1, 2):
        yield refused(f"{size} bytes of a field", edit=grown(field(1, b"a")[:size]))
    yield refused("another address", address=ADDRESS | {"name": "Token"})
    yield refused("an address whose parts meet elsewhere",
                  address={"domain": "keychai", "scope": "norg.example", "name": "token"})
    full = pattern(1024)
    yield refused("no chunk", chunks=[]) | {"sealed": make_header(
        2, 16, 10, 0, bytes.fromhex(KEY_ID), sha256("salt of no chunk"), {}).hex()}
    yield refused("a value without a last chunk", chunks=[(0, False, b"dark")])
    yield refused("full chunks without a last one", chunks=[(0, False, full), (1, False, full)])
    yield refused("an empty chunk behind a full one", chunks=[(0, False, full), (1, True, b"")])
    yield refused("a last chunk before the last one", chunks=[(0, True, full), (1, True, b"dark")])
    yield refused("chunks in another order", chunks=[(1, False, full), (0, False, full), (2, True, b"dark")])
    yield refused("a first chunk of number 1", chunks=[(1, True, b"dark")])
    yield refused("a short chunk before the last one", chunks=[(0, False, full[:1000]), (1, True, b"dark")])
    yield refused("a chunk twice", chunks=[(0, False, full), (0, False, full), (1, True, b"dark")])


# Commands.


def as_list(items):
    return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=True) for item in items) + "\n]"


def print_vectors():
    print('{"format": "LocalData envelope test vectors", "version": 1, "vectors":', as_list(vectors()), end="")
    print(', "refused":', as_list(refusals()), "}")


def open_all(path):
    """Opens every entry; prints whether each opened, and to what. Ends with status 1 on any difference."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    wrong = 0
    for entry in document["vectors"] + document["refused"]:
        expected = value_of(entry) if "value" in entry or "valueSize" in entry else None
        key_id = bytes.fromhex(entry["ringKeyID"]) if "ringKeyID" in entry else None
        sealed = bytes.fromhex(entry["sealed"]) if "sealed" in entry else None
        if sealed is None:
            continue
        try:
            value, header = open_envelope(sealed, bytes.fromhex(entry["material"]), key_id, entry["address"])
            attributes = {
                name: header["fields"][number].decode() for name, number in TEXT_FIELDS.items()
                if number in header["fields"]
            }
            found = "opens" if value == expected and attributes == entry["attributes"] else "opens to another value"
            # Every byte is known of a value that was sealed with the vector's own salt.
            if header["salt"].hex() == entry["salt"] and hashlib.sha256(sealed).hexdigest() != entry["sealedSHA256"]:
                found = "opens and has other bytes"
        except Refused as reason:
            found = f"is refused: {reason}"
        if found.split(":")[0] != ("is refused" if expected is None else "opens"):
            print(f"{entry['name']} {found}")
            wrong += 1
    print(f"{len(document['vectors'])} to open, {len(document['refused'])} to refuse, {wrong} not so")
    return wrong


def print_example():
    material, salt = bytes(range(32)), bytes(range(32, 64))
    key_id, value = bytes.fromhex(KEY_ID), b"dark"
    address = {"domain": "userDefaults", "scope": "org.example", "name": "theme"}
    fields = {1: b"text/plain", 2: b"string"}
    header = make_header(2, 16, 16, 0, key_id, salt, fields)
    info = record_info(2, None, None)
    key = record_key(material, salt, 2, 16, None, None)
    nonce, context = chunk_nonce(12, 0, True), address_bytes(**address)
    body = ChaCha20Poly1305(key).seal(nonce, value, header + context)
    for name, content in (
        ("material", material), ("key id", key_id), ("salt", salt), ("header", header), ("info", info),
        ("record key", key), ("address", context), ("nonce", nonce), ("value", value), ("ciphertext", body[:-16]),
        ("tag", body[-16:]), ("envelope", header + body),
    ):
        text = content.hex()
        print(f"{name} ({len(content)} bytes)")
        for at in range(0, len(text), 64):
            print(f"    {text[at:at + 64]}")


if __name__ == "__main__":
    if sys.argv[1:] == ["vectors"]:
        print_vectors()
    elif sys.argv[1:] == ["example"]:
        print_example()
    elif len(sys.argv) == 3 and sys.argv[1] == "open":
        sys.exit(1 if open_all(sys.argv[2]) else 0)
    else:
        sys.exit(__doc__)
