"""The algorithms of the envelope, from their standards, with nothing outside Python's standard library.

Written for clarity, not for use: nothing here runs in constant time. AES-256-GCM is FIPS 197 and NIST SP 800-38D,
ChaCha20-Poly1305 RFC 8439, XChaCha20-Poly1305 draft-irtf-cfrg-xchacha-03, HKDF RFC 5869, Argon2id RFC 9106.
"""

import hashlib
import hmac
import struct

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF


def hkdf_sha256(secret, salt, info, size):
    pseudorandom = hmac.digest(salt or bytes(32), secret, "sha256")
    output, block, counter = b"", b"", 1
    while len(output) < size:
        block = hmac.digest(pseudorandom, block + info + bytes([counter]), "sha256")
        output, counter = output + block, counter + 1
    return output[:size]


def pbkdf2_sha256(passphrase, salt, iterations, size):
    return hashlib.pbkdf2_hmac("sha256", passphrase, salt, iterations, size)


# ChaCha20 and Poly1305.


def chacha_rounds(state):
    x = list(state)
    columns = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
    diagonals = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
    for _ in range(10):
        for a, b, c, d in columns + diagonals:
            x[a] = (x[a] + x[b]) & MASK32
            t = x[d] ^ x[a]
            x[d] = (t << 16 | t >> 16) & MASK32
            x[c] = (x[c] + x[d]) & MASK32
            t = x[b] ^ x[c]
            x[b] = (t << 12 | t >> 20) & MASK32
            x[a] = (x[a] + x[b]) & MASK32
            t = x[d] ^ x[a]
            x[d] = (t << 8 | t >> 24) & MASK32
            x[c] = (x[c] + x[d]) & MASK32
            t = x[b] ^ x[c]
            x[b] = (t << 7 | t >> 25) & MASK32
    return x


CHACHA_CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def chacha20_block(key, counter, nonce):
    state = CHACHA_CONSTANTS + struct.unpack("<8I", key) + (counter,) + struct.unpack("<3I", nonce)
    return struct.pack("<16I", *((a + b) & MASK32 for a, b in zip(chacha_rounds(state), state)))


def hchacha20(key, nonce):
    x = chacha_rounds(CHACHA_CONSTANTS + struct.unpack("<8I", key) + struct.unpack("<4I", nonce))
    return struct.pack("<8I", *(x[0:4] + x[12:16]))


def xor(left, right):
    size = len(left)
    return (int.from_bytes(left, "big") ^ int.from_bytes(right[:size], "big")).to_bytes(size, "big")


def chacha20(key, counter, nonce, data):
    blocks = range(counter, counter + (len(data) + 63) // 64)
    return xor(data, b"".join(chacha20_block(key, block, nonce) for block in blocks))


def poly1305(key, message):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    s, accumulator = int.from_bytes(key[16:], "little"), 0
    for at in range(0, len(message), 16):
        accumulator = (accumulator + int.from_bytes(message[at : at + 16] + b"\x01", "little")) * r % ((1 << 130) - 5)
    return ((accumulator + s) & ((1 << 128) - 1)).to_bytes(16, "little")


def padded(data):
    return data + bytes(-len(data) % 16)


def chacha20_poly1305_tag(key, nonce, data, ciphertext):
    lengths = struct.pack("<QQ", len(data), len(ciphertext))
    return poly1305(chacha20_block(key, 0, nonce)[:32], padded(data) + padded(ciphertext) + lengths)


class ChaCha20Poly1305:
    nonce_size = 12

    def __init__(self, key):
        self.key = key

    def seal(self, nonce, plaintext, data):
        ciphertext = chacha20(self.key, 1, nonce, plaintext)
        return ciphertext + chacha20_poly1305_tag(self.key, nonce, data, ciphertext)

    def open(self, nonce, sealed, data):
        ciphertext, tag = sealed[:-16], sealed[-16:]
        if not hmac.compare_digest(tag, chacha20_poly1305_tag(self.key, nonce, data, ciphertext)):
            raise ValueError("wrong tag")
        return chacha20(self.key, 1, nonce, ciphertext)


class XChaCha20Poly1305:
    nonce_size = 24

    def __init__(self, key):
        self.key = key

    def inner(self, nonce):
        return ChaCha20Poly1305(hchacha20(self.key, nonce[:16])), bytes(4) + nonce[16:]

    def seal(self, nonce, plaintext, data):
        cipher, rest = self.inner(nonce)
        return cipher.seal(rest, plaintext, data)

    def open(self, nonce, sealed, data):
        cipher, rest = self.inner(nonce)
        return cipher.open(rest, sealed, data)


# AES-256 and GCM.


def times_x(byte):
    return (byte << 1 ^ (0x1B if byte & 0x80 else 0)) & 0xFF


def aes_tables():
    exponents, logarithms, value = [], [0] * 256, 1
    for power in range(255):
        exponents.append(value)
        logarithms[value] = power
        value ^= times_x(value)
    box = [0x63]
    for byte in range(1, 256):
        inverse = exponents[(255 - logarithms[byte]) % 255]
        turned = 0
        for turn in range(5):
            turned ^= (inverse << turn | inverse >> 8 - turn) & 0xFF
        box.append(turned ^ 0x63)
    mixed = []
    for turn in range(4):
        row = []
        for byte in box:
            column = [times_x(byte), byte, byte, times_x(byte) ^ byte]
            row.append(int.from_bytes(bytes(column[-turn:] + column[:-turn] if turn else column), "big"))
        mixed.append(row)
    return box, mixed


BOX, MIXED = aes_tables()


class AES256GCM:
    nonce_size = 12

    def __init__(self, key):
        words = [int.from_bytes(key[at : at + 4], "big") for at in range(0, 32, 4)]
        constant = 1
        for index in range(8, 60):
            word = words[-1]
            if index % 8 == 0:
                word = self.substitute((word << 8 | word >> 24) & MASK32) ^ constant << 24
                constant = times_x(constant)
            elif index % 8 == 4:
                word = self.substitute(word)
            words.append(words[index - 8] ^ word)
        self.words = words
        # The products of the hash key with every byte at the last position, for Shoup's method.
        product = int.from_bytes(self.block(bytes(16)), "big")
        self.table = [0] * 256
        for bit in range(7, -1, -1):
            self.table[1 << bit] = product
            product = self.halved(product)
        for byte in range(256):
            low = byte & -byte
            if byte != low:
                self.table[byte] = self.table[low] ^ self.table[byte ^ low]
        self.reduced = []
        for byte in range(256):
            for _ in range(8):
                byte = self.halved(byte)
            self.reduced.append(byte)

    @staticmethod
    def substitute(word):
        return BOX[word >> 24] << 24 | BOX[word >> 16 & 255] << 16 | BOX[word >> 8 & 255] << 8 | BOX[word & 255]

    @staticmethod
    def halved(value):
        """Times x, in GCM's order of bits."""
        return value >> 1 ^ (0xE1 << 120 if value & 1 else 0)

    def block(self, data):
        words, (m0, m1, m2, m3) = self.words, MIXED
        a, b, c, d = (word ^ key for word, key in zip(struct.unpack(">4I", data), words))
        for at in range(4, 56, 4):
            a, b, c, d = (
                m0[a >> 24] ^ m1[b >> 16 & 255] ^ m2[c >> 8 & 255] ^ m3[d & 255] ^ words[at],
                m0[b >> 24] ^ m1[c >> 16 & 255] ^ m2[d >> 8 & 255] ^ m3[a & 255] ^ words[at + 1],
                m0[c >> 24] ^ m1[d >> 16 & 255] ^ m2[a >> 8 & 255] ^ m3[b & 255] ^ words[at + 2],
                m0[d >> 24] ^ m1[a >> 16 & 255] ^ m2[b >> 8 & 255] ^ m3[c & 255] ^ words[at + 3],
            )
        rows = ((a, b, c, d), (b, c, d, a), (c, d, a, b), (d, a, b, c))
        mixed = (self.substitute(p & 0xFF000000 | q & 0xFF0000 | r & 0xFF00 | s & 0xFF) for p, q, r, s in rows)
        return struct.pack(">4I", *(word ^ key for word, key in zip(mixed, words[56:])))

    def counters(self, nonce, data):
        blocks = range(2, 2 + (len(data) + 15) // 16)
        return xor(data, b"".join(self.block(nonce + struct.pack(">I", block)) for block in blocks))

    def tag(self, nonce, data, ciphertext):
        message = padded(data) + padded(ciphertext) + struct.pack(">QQ", 8 * len(data), 8 * len(ciphertext))
        table, reduced, value = self.table, self.reduced, 0
        for at in range(0, len(message), 16):
            value ^= int.from_bytes(message[at : at + 16], "big")
            product = 0
            for byte in value.to_bytes(16, "little"):
                product = product >> 8 ^ reduced[product & 255] ^ table[byte]
            value = product
        return xor(value.to_bytes(16, "big"), self.block(nonce + b"\x00\x00\x00\x01"))

    def seal(self, nonce, plaintext, data):
        ciphertext = self.counters(nonce, plaintext)
        return ciphertext + self.tag(nonce, data, ciphertext)

    def open(self, nonce, sealed, data):
        ciphertext, tag = sealed[:-16], sealed[-16:]
        if not hmac.compare_digest(tag, self.tag(nonce, data, ciphertext)):
            raise ValueError("wrong tag")
        return self.counters(nonce, ciphertext)


# Argon2id with one lane.


def blake2b_long(data, size):
    data = struct.pack("<I", size) + data
    if size <= 64:
        return hashlib.blake2b(data, digest_size=size).digest()
    output, block = b"", hashlib.blake2b(data).digest()
    while size - len(output) > 64:
        output += block[:32]
        rest = size - len(output)
        block = hashlib.blake2b(block, digest_size=min(rest, 64)).digest()
    return output + block


def argon2_mix(v, a, b, c, d):
    for turn_d, turn_b in ((32, 24), (16, 63)):
        v[a] = (v[a] + v[b] + 2 * (v[a] & MASK32) * (v[b] & MASK32)) & MASK64
        t = v[d] ^ v[a]
        v[d] = (t >> turn_d | t << 64 - turn_d) & MASK64
        v[c] = (v[c] + v[d] + 2 * (v[c] & MASK32) * (v[d] & MASK32)) & MASK64
        t = v[b] ^ v[c]
        v[b] = (t >> turn_b | t << 64 - turn_b) & MASK64


def argon2_permute(v, at):
    for a, b, c, d in (
        *((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
        *((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)),
    ):
        argon2_mix(v, at[a], at[b], at[c], at[d])


def argon2_compress(left, right):
    mixed = [a ^ b for a, b in zip(left, right)]
    v = list(mixed)
    for row in range(8):
        argon2_permute(v, range(16 * row, 16 * row + 16))
    for column in range(8):
        argon2_permute(v, [16 * row + 2 * column + half for row in range(8) for half in (0, 1)])
    return [a ^ b for a, b in zip(v, mixed)]


def argon2id(passphrase, salt, passes, memory, size):
    """`memory` in KiB."""
    numbers = struct.pack("<6I", 1, size, memory, passes, 0x13, 2)
    parts = (passphrase, salt, b"", b"")
    seed = hashlib.blake2b(numbers + b"".join(struct.pack("<I", len(part)) + part for part in parts)).digest()
    count = memory // 4 * 4
    segment = count // 4
    blocks = [[0] * 128 for _ in range(count)]
    for index in range(2):
        blocks[index] = list(struct.unpack("<128Q", blake2b_long(seed + struct.pack("<II", index, 0), 1024)))
    for turn in range(passes):
        for quarter in range(4):
            addresses, number = [], 0
            for offset in range(segment):
                index = quarter * segment + offset
                if turn == 0 and quarter < 2:
                    if offset % 128 == 0:
                        number += 1
                        request = [turn, 0, quarter, count, passes, 2, number] + [0] * 121
                        zero = [0] * 128
                        addresses = argon2_compress(zero, argon2_compress(zero, request))
                    random = addresses[offset % 128]
                else:
                    random = blocks[index - 1][0]
                if turn == 0 and index < 2:
                    continue
                area = index - 1 if turn == 0 else count - segment + offset - 1
                start = 0 if turn == 0 else (quarter + 1) % 4 * segment
                low = random & MASK32
                reference = (start + area - 1 - (area * (low * low >> 32) >> 32)) % count
                block = argon2_compress(blocks[index - 1], blocks[reference])
                if turn > 0:
                    block = [a ^ b for a, b in zip(block, blocks[index])]
                blocks[index] = block
    return blake2b_long(struct.pack("<128Q", *blocks[-1]), size)
