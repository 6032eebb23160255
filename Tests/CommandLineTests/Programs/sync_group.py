"""A second implementation of sync groups, written from their specification (SyncFormat.md).

    sync_group.py show FOLDER CODE              prints members and values, as JSON, with an invitation's code
    sync_group.py join FOLDER CODE NAME KEYS    joins as a new device, and writes its keys to the file KEYS
    sync_group.py list FOLDER KEYS              prints members and values, as JSON, as that device
    sync_group.py set FOLDER KEYS ADDRESS JSON  publishes a value as that device
    sync_group.py damage FOLDER KEYS COUNT SEED  changes records and entries, and says how many were refused
    sync_group.py example                       prints the specification's worked example
"""

import hashlib
import json
import os
import random
import struct
import sys
import time

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sync_folder import Refused, publish, records, refuse_unless

LABEL = b"localdata.sync/1 "
CIPHERS = {1: AESGCM, 2: ChaCha20Poly1305}
GENESIS, INVITE, JOIN, REMOVE, REKEY, FORGET, ACKNOWLEDGE, REMOVE_WITH_CODE = range(1, 9)
VALUE, REMOVAL, RELEASE, STATUS = 1, 2, 3, 4
ROLES = ["all", "phone", "watch"]
DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MOST_TOGETHER = 64

# Hashes, keys and boxes.


def hkdf(secret, salt, info, size):
    return HKDF(SHA256(), size, salt, info).derive(secret)


def hashed(data, label):
    return hkdf(data, LABEL + label, b"", 32)


def derived(key, label, context=b"", size=32, salt=b""):
    return hkdf(key, salt, LABEL + label + context, size)


def raw(public):
    return public.public_bytes(Encoding.Raw, PublicFormat.Raw)


def signing_key(private):
    return raw(Ed25519PrivateKey.from_private_bytes(private).public_key())


def sign(message, label, private):
    return Ed25519PrivateKey.from_private_bytes(private).sign(LABEL + label + message)


def verify(signature, message, label, public):
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, LABEL + label + message)
    except InvalidSignature:
        raise Refused("a signature is wrong") from None


def seal(plain, label, key, data, salt=None):
    salt = salt or os.urandom(32)
    both = derived(key, label, b"\x02", 44, salt)
    return b"\x02" + salt + ChaCha20Poly1305(both[:32]).encrypt(both[32:], plain, data)


def open_box(box, label, key, data):
    refuse_unless(len(box) >= 49 and box[0] in CIPHERS, "a box is too short, or has an unknown cipher")
    both = derived(key, label, box[:1], 44, box[1:33])
    try:
        return CIPHERS[box[0]](both[:32]).decrypt(both[32:], box[33:], data)
    except InvalidTag:
        raise Refused("a box does not open") from None


class Reader:
    def __init__(self, data):
        self.data, self.place = data, 0

    def take(self, count):
        refuse_unless(0 <= count <= len(self.data) - self.place, "bytes are missing")
        self.place += count
        return self.data[self.place - count : self.place]

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def rest(self):
        return self.take(len(self.data) - self.place)

    def text(self):
        size = self.number(2)
        return None if size == 0xFFFF else self.take(size).decode("utf-8")

    def end(self):
        refuse_unless(self.place == len(self.data), "bytes are left over")


# Codes.


def checksum(secret):
    value = 0xCBF29CE484222325
    for byte in secret:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value >> 32


def secret_of(code):
    letters = [letter for letter in code.upper() if letter not in " -\n"]
    letters = [{"O": "0", "I": "1", "L": "1"}.get(letter, letter) for letter in letters]
    refuse_unless(len(letters) == 32 and all(letter in DIGITS for letter in letters), "no code")
    value = 0
    for letter in letters:
        value = value << 5 | DIGITS.index(letter)
    data = value.to_bytes(20, "big")
    refuse_unless(int.from_bytes(data[16:], "big") == checksum(data[:16]), "a code with a typing error")
    return data[:16]


# Keys of a group and of a device.


class Group:
    """What a member knows: the group's id and secret, and the keys of epochs."""

    def __init__(self, data):
        reader = Reader(data)
        refuse_unless(reader.number(1) == 1, "keys of another version")
        self.id, self.secret = reader.take(32), reader.take(32)
        self.epochs = {}
        for _ in range(reader.number(2)):
            epoch = reader.take(16)
            self.epochs[epoch] = reader.take(32)
        reader.end()
        self.log_key = derived(self.secret, b"key of the log;")
        self.name_key = derived(self.secret, b"key of names;")
        self.hash_key = derived(self.secret, b"key of hashes;")

    def name(self, address):
        return derived(self.name_key, b"name of an address;", address.encode(), 16).hex()

    def hash(self, data):
        return derived(self.hash_key, b"hash of a value;", data, 16)

    def mark(self, epoch, cipher):
        return derived(self.name_key, b"mark of an epoch;", b"\x01" + epoch[:8] + bytes([cipher]), 8)


def agreement_key(private):
    return raw(X25519PrivateKey.from_private_bytes(private).public_key())


def shared_key(private, public, salt):
    shared = X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))
    return derived(shared, b"key between two devices;", salt=salt)


class Device:
    def __init__(self, signing, agreement):
        self.signing, self.agreement = signing, agreement
        self.signing_public, self.agreement_public = signing_key(signing), agreement_key(agreement)
        self.id = device_id(self.signing_public)


class Invitation:
    """What follows from a code."""

    def __init__(self, secret):
        self.id = derived(secret, b"id of an invitation;", size=16)
        self.signing = derived(secret, b"signing key of an invitation;")
        self.box_key = derived(secret, b"box key of an invitation;")
        self.agreement = derived(secret, b"agreement key of an invitation;")
        self.agreement_public = agreement_key(self.agreement)


def device_id(public):
    return hashed(public, b"hash of a device's key;")[:16]


# The log of members.


class Entry:
    def __init__(self, signed, group):
        reader = Reader(signed)
        refuse_unless(reader.number(1) == 1, "an entry of another version")
        self.kind, found = reader.number(1), reader.take(32)
        self.author_key, self.time = reader.take(32), reader.number(8)
        self.parents = [reader.take(32) for _ in range(reader.number(1))]
        refuse_unless(self.parents == sorted(set(self.parents)) and len(self.parents) <= 64, "unsorted parents")
        self.boxes, self.invitation_boxes, self.ended, self.continues = {}, {}, [], False
        getattr(self, f"read_{self.kind}", self.unknown)(reader)
        second = reader.take(64) if self.kind in (JOIN, REMOVE_WITH_CODE) else None
        signature = reader.take(64)
        reader.end()
        self.signed, self.second = signed, second
        self.id = hashed(signed, b"hash of an entry;")
        self.author = device_id(self.author_key)
        verify(signature, signed[:-64], b"signature of an entry;", self.author_key)
        if self.kind == GENESIS:
            refuse_unless(self.id == group and found == bytes(32) and not self.parents, "another group's genesis")
        else:
            refuse_unless(found == group and self.parents, "an entry of another group")

    def unknown(self, _):
        raise Refused("an entry of an unknown kind")

    def profile(self, reader):
        self.agreement_key, role = reader.take(32), reader.number(1)
        refuse_unless(role < len(ROLES), "an unknown role")
        self.role, name = ROLES[role], reader.take(reader.number(1))
        refuse_unless(1 <= len(name) <= 128, "a name that is not allowed")
        self.name = name.decode("utf-8")

    def epoch_keys(self, reader):
        self.ephemeral = reader.take(32)
        self.boxes = self.boxes_of(reader)

    def boxes_of(self, reader):
        boxes, order = {}, []
        for _ in range(reader.number(2)):
            order.append(reader.take(16))
            boxes[order[-1]] = reader.take(81)
        refuse_unless(order == sorted(set(order)) and len(order) <= 256, "unsorted boxes")
        return boxes

    def read_1(self, reader):
        self.profile(reader)
        self.recovery_key = reader.take(32)

    def read_2(self, reader):
        self.invitation_key, self.agreement_key, self.invitation = reader.take(32), reader.take(32), reader.take(16)
        self.expiry, self.epoch, self.box_hash = reader.number(8), reader.take(16), reader.take(32)

    def read_3(self, reader):
        self.invite = reader.take(32)
        self.profile(reader)

    def read_4(self, reader):
        self.device = reader.take(16)
        self.epoch_keys(reader)

    read_8 = read_4

    def read_5(self, reader):
        continues = reader.number(1)
        refuse_unless(continues <= 1, "unknown flags")
        self.continues = continues == 1
        self.ended = [reader.take(32) for _ in range(reader.number(2))]
        refuse_unless(self.ended == sorted(set(self.ended)) and len(self.ended) <= 256, "unsorted invites")
        self.epoch_keys(reader)
        self.invitation_boxes = self.boxes_of(reader)

    @property
    def starts_era(self):
        return self.kind in (GENESIS, REMOVE, REMOVE_WITH_CODE) or self.kind == REKEY and not self.continues

    def read_6(self, reader):
        self.device = reader.take(16)

    def read_7(self, _):
        pass


def published(data):
    """The id and box of an invitation, or None, the bytes before the sealed entry, and that entry."""
    reader = Reader(data)
    refuse_unless(len(data) <= 65536 and reader.number(1) == 1, "an entry of another version")
    has_box = reader.number(1)
    refuse_unless(has_box <= 1, "no entry")
    invitation = None
    if has_box:
        identifier = reader.take(16)
        invitation = identifier, reader.take(reader.number(2))
    return invitation, data[: reader.place], reader.rest()


def opened_entry(data, group):
    invitation, head, box = published(data)
    entry = Entry(open_box(box, b"sealed entry;", group.log_key, head), group.id)
    refuse_unless((invitation is not None) == (entry.kind == INVITE), "an invitation's box at the wrong place")
    if invitation:
        identifier, content = invitation
        same = identifier == entry.invitation and hashed(content, b"hash of an invitation's box;") == entry.box_hash
        refuse_unless(same, "another invitation's box")
    return entry


class Log:
    """The entries whose parents are all there. What several devices did at the same time is not decided here."""

    def __init__(self, contents, group):
        entries = {}
        for content in contents:
            try:
                entry = opened_entry(content, group)
                entries[entry.id] = entry, content
            except (Refused, UnicodeDecodeError):
                continue
        self.entries, self.contents, self.before, depth = [], {}, {}, {}
        waiting = True
        while waiting:
            waiting = False
            for identifier, (entry, content) in sorted(entries.items()):
                if identifier in self.before or any(parent not in self.before for parent in entry.parents):
                    continue
                self.before[identifier] = set(entry.parents).union(*(self.before[one] for one in entry.parents))
                depth[identifier] = 1 + max((depth[parent] for parent in entry.parents), default=-1)
                self.entries.append(entry)
                self.contents[identifier] = content
                waiting = True
        self.entries.sort(key=lambda entry: (depth[entry.id], entry.time, entry.id))
        self.fold(group)

    def fold(self, group):
        """Plays entries that follow one another, or that say the same in whatever order."""
        self.members, self.former, self.invites, self.starts = {}, {}, {}, {}
        for entry in self.entries:
            if entry.kind == GENESIS:
                self.members[entry.author] = entry
                self.start(entry)
                continue
            if entry.kind == JOIN:
                invite = self.invites.pop(entry.invite, None)
                if invite is None or entry.author in self.members or entry.author in self.former:
                    continue
                try:
                    verify(entry.second, entry.signed[:-128], b"signature by an invitation;", invite.invitation_key)
                except Refused:
                    continue
                if entry.time <= invite.expiry:
                    self.members[entry.author] = entry
                continue
            if entry.author not in self.members:
                continue
            self.refuse_disputes(entry)
            if entry.kind == INVITE:
                self.invites[entry.id] = entry
            elif entry.kind in (REMOVE, REMOVE_WITH_CODE, FORGET):
                gone = self.members.pop(entry.device, None)
                if gone:
                    self.former[entry.device] = gone
            if entry.boxes:
                self.start(entry)
            known = self.before[entry.id]
            ended = known if entry.kind in (REMOVE, REMOVE_WITH_CODE) else entry.ended
            self.invites = {one: invite for one, invite in self.invites.items() if one not in ended}
        self.epoch = max(self.starts, key=lambda one: self.starts[one][:3])[:16] if self.starts else None
        self.numbers = self.era() if self.starts else {}
        self.number = self.numbers.get(self.epoch)

    def refuse_disputes(self, removal):
        """What a device did while another removed it needs the rules of the specification, which are not here."""
        if removal.kind not in (REMOVE, REMOVE_WITH_CODE):
            return
        for entry in self.entries:
            is_concurrent = entry.id not in self.before[removal.id] and removal.id not in self.before[entry.id]
            refuse_unless(entry.author != removal.device or not is_concurrent, "a removal that is disputed")

    def start(self, entry):
        """Notes the numbers of an era and of an epoch, the place in the order, and whether the era begins here."""
        earlier = [self.starts[one] for one in self.before[entry.id] if one in self.starts]
        era = max((start[0] for start in earlier), default=-1) + (1 if entry.starts_era else 0)
        number = max((start[1] for start in earlier), default=-1) + 1
        self.starts[entry.id] = era, number, len(self.starts), entry.starts_era

    def era(self):
        """The numbers of the epochs that count, by their ids."""
        current = next(one for one in self.starts if one[:16] == self.epoch)
        era = self.starts[current][0]
        first = next(
            (one for one, of in self.starts.items() if of[0] == era and of[3] and self.is_upto(one, current)),
            current)
        counting = [one for one, start in self.starts.items() if start[0] == era and self.is_upto(first, one)]
        return {one[:16]: self.starts[one][1] for one in counting}

    def is_upto(self, first, second):
        return first == second or first in self.before[second]

    @property
    def heads(self):
        known = set().union(*(entry.parents for entry in self.entries)) if self.entries else set()
        return [entry.id for entry in self.entries if entry.id not in known]

    def learn(self, group, receiver):
        """Opens the keys of epochs that are sealed for a device or an invitation."""
        for entry in self.entries:
            boxes = entry.invitation_boxes if isinstance(receiver, Invitation) else entry.boxes
            box = boxes.get(receiver.id)
            if box is None or entry.id[:16] in group.epochs:
                continue
            key = shared_key(receiver.agreement, entry.ephemeral, entry.ephemeral + receiver.agreement_public)
            data = group.id + entry.author_key + receiver.id
            group.epochs[entry.id[:16]] = open_box(box, b"sealed key of an epoch;", key, data)


# Records.


def binding(group, epoch, writer):
    return group.id + epoch + writer


def leaf(content, name, bound):
    data = bound + struct.pack(">I", len(name)) + name.encode() + content
    return hashed(data, b"hash of a record;")[:16]


def node(left, right):
    return hashed(left + right, b"hash of two records;")[:16]


def proofs(leaves, bound, private):
    levels = [leaves]
    while len(levels[-1]) > 1:
        level = levels[-1]
        pairs = [level[place : place + 2] for place in range(0, len(level), 2)]
        levels.append([node(*pair) if len(pair) == 2 else pair[0] for pair in pairs])
    signature = sign(bound + bytes([len(leaves)]) + levels[-1][0], b"signature of records;", private)
    for place in range(len(leaves)):
        path, index = b"", place
        for level in levels[:-1]:
            path += level[index ^ 1] if index ^ 1 < len(level) else b""
            index >>= 1
        yield path + signature + bytes([place, len(leaves)])


def proven(opened, name, bound, public):
    """The content of a record, whose signature was checked."""
    refuse_unless(len(opened) >= 66, "a record without a proof")
    place, width = opened[-2], opened[-1]
    count = width
    refuse_unless(place < width <= MOST_TOGETHER, "an impossible proof")
    steps, index, size = [], place, width
    while size > 1:
        steps.append((index & 1, index ^ 1 < size))
        index, size = index >> 1, size + 1 >> 1
    nodes = sum(has_neighbour for _, has_neighbour in steps)
    refuse_unless(len(opened) >= nodes * 16 + 66, "a proof that is too short")
    content, proof = opened[: len(opened) - nodes * 16 - 66], opened[len(opened) - nodes * 16 - 66 :]
    here = leaf(content, name, bound)
    for is_right, has_neighbour in steps:
        if not has_neighbour:
            continue
        neighbour, proof = proof[:16], proof[16:]
        here = node(neighbour, here) if is_right else node(here, neighbour)
    verify(proof[:64], bound + bytes([count]) + here, b"signature of records;", public)
    return content


def record_head(group, number, epoch, cipher=2):
    return b"\x01" + struct.pack(">I", number) + epoch[:8] + group.mark(epoch, cipher)


def sealed_records(group, log, device, contents, salts=None):
    """Seals records that are published together: pairs of name and content."""
    epoch, bound = log.epoch, binding(group, log.epoch, device.id)
    key = derived(group.epochs[epoch], b"key of records;")
    head = record_head(group, log.number, epoch)
    leaves = [leaf(content, name, bound) for name, content in contents]
    for (name, content), proof in zip(contents, proofs(leaves, bound, device.signing)):
        salt = salts and salts.pop(0)
        yield name, head + seal(content + proof, b"sealed record;", key, head + bound + name.encode(), salt)


def opened_record(group, log, writer, name, data):
    member = log.members.get(writer)
    refuse_unless(member is not None and len(data) > 21 and data[0] == 1, "no record of a member")
    epoch = next((one for one in group.epochs if one[:8] == data[5:13]), None)
    refuse_unless(epoch in log.numbers, "a record of another era")
    bound, head = binding(group, epoch, writer), data[:21]
    refuse_unless(head == record_head(group, log.numbers[epoch], epoch, data[21]), "a record with another head")
    key = derived(group.epochs[epoch], b"key of records;")
    opened = open_box(data[21:], b"sealed record;", key, head + bound + name.encode())
    return proven(opened, name, bound, member.author_key)


def version(reader):
    time = reader.number(8)
    return time, reader.take(16)


def parsed(content):
    reader = Reader(content)
    refuse_unless(reader.number(1) == 1, "a content of another version")
    result = {"kind": reader.number(1), "counter": reader.number(8)}
    if result["kind"] in (VALUE, REMOVAL):
        result["version"] = version(reader)
        result["history"] = [version(reader) for _ in range(reader.number(2))]
        result["address"] = reader.text()
    if result["kind"] == VALUE:
        result["type"], result["serializer"], result["tag"] = (reader.text() for _ in range(3))
        result["expires"] = reader.number(8)
        result["app"], result["owner"] = (reader.text() for _ in range(2))
        result["value"] = reader.rest()
    elif result["kind"] != STATUS:
        reader.end()
    return result


def text(value):
    return b"\xff\xff" if value is None else struct.pack(">H", len(value.encode())) + value.encode()


def value_content(counter, author, now, history, address, value, serializer="json", owner=None):
    own = struct.pack(">Q", now << 16) + author
    known = sorted([one for one in history if one[8:] != author] + [own])
    data = struct.pack(">BBQ", 1, VALUE, counter) + own + struct.pack(">H", len(known)) + b"".join(known)
    data += text(address) + text("application/json") + text(serializer) + text(None) + bytes(8) + text(None)
    return data + text(owner) + value


def values(group, log, found):
    """The values that win, by address."""
    best = {}
    for (writer, name), data in found.items():
        if name.startswith("log-"):
            continue
        try:
            content = parsed(opened_record(group, log, bytes.fromhex(writer), name, data))
            if content["kind"] in (VALUE, REMOVAL):
                refuse_unless(group.name(content["address"]) == name, "a record under another name")
        except (Refused, UnicodeDecodeError, ValueError):
            continue
        if content["kind"] not in (VALUE, REMOVAL):
            continue
        known = best.get(content["address"])
        if known is None or content["version"] > known["version"]:
            best[content["address"]] = content
    return best


# Commands.


def log_of(found, group):
    return Log([data for (_, name), data in found.items() if name.startswith("log-")], group)


def invited(folder, code):
    """The group that an invitation's code opens."""
    invitation, found = Invitation(secret_of(code)), records(folder)
    for (_, name), data in found.items():
        if not name.startswith("log-"):
            continue
        try:
            box, _, _ = published(data)
            if box and box[0] == invitation.id:
                group = Group(open_box(box[1], b"sealed keys of a group;", invitation.box_key, invitation.id))
                opened_entry(data, group)
                log = log_of(found, group)
                log.learn(group, invitation)
                return group, log, found, invitation
        except Refused:
            continue
    raise Refused("no invitation with this code")


def as_device(folder, path):
    with open(path, encoding="ascii") as file:
        saved = {name: bytes.fromhex(value) for name, value in json.load(file).items()}
    device, group, found = Device(saved["signing"], saved["agreement"]), Group(saved["group"]), records(folder)
    log = log_of(found, group)
    log.learn(group, device)
    return device, group, log, found


def shown(group, log, found):
    all_values = {
        address: content["value"].decode("utf-8", "backslashreplace")
        for address, content in sorted(values(group, log, found).items()) if content["kind"] == VALUE
    }
    members = sorted(member.name for member in log.members.values())
    return json.dumps({"members": members, "values": all_values}, indent=1)


def entry_name(identifier):
    return "log-" + identifier[:16].hex()


def signed_entry(kind, group, device, parents, body, invitation=None):
    """The name and content of a new entry's record, and its id."""
    parents = sorted(parents)
    data = struct.pack(">BB", 1, kind) + group.id + device.signing_public + struct.pack(">Q", now())
    data += bytes([len(parents)]) + b"".join(parents) + body
    if invitation:
        data += sign(data, b"signature by an invitation;", invitation.signing)
    data += sign(data, b"signature of an entry;", device.signing)
    identifier, head = hashed(data, b"hash of an entry;"), b"\x01\x00"
    return entry_name(identifier), head + seal(data, b"sealed entry;", group.log_key, head), identifier


def new_epoch(group, device, members, invites):
    """The body of an entry that begins an epoch which continues the era."""
    ephemeral, key = os.urandom(32), os.urandom(32)
    public = agreement_key(ephemeral)

    def boxes(receivers):
        data = struct.pack(">H", len(receivers))
        for identifier, agreement in sorted(receivers.items()):
            bound = group.id + device.signing_public + identifier
            box_key = shared_key(ephemeral, agreement, public + agreement)
            data += identifier + seal(key, b"sealed key of an epoch;", box_key, bound)
        return data

    return b"\x01\x00\x00" + public + boxes(members) + boxes(invites)


def join(folder, code, name, path):
    group, log, _, invitation = invited(folder, code)
    invite = next((entry for entry in log.invites.values() if entry.invitation == invitation.id), None)
    refuse_unless(invite is not None, "the invitation has ended")
    device = Device(os.urandom(32), os.urandom(32))
    profile = device.agreement_public + b"\x00" + bytes([len(name.encode())]) + name.encode()
    *entry, identifier = signed_entry(JOIN, group, device, log.heads, invite.id + profile, invitation)
    # What is published from now on, the code does not open.
    members = {one: member.agreement_key for one, member in log.members.items()}
    members[device.id] = device.agreement_public
    others = {one.invitation: one.agreement_key for one in log.invites.values() if one.id != invite.id}
    *epoch, _ = signed_entry(REKEY, group, device, [identifier], new_epoch(group, device, members, others))
    changes = [(entry_name(known), old) for known, old in log.contents.items()]
    publish(folder, device.id.hex(), changes + [tuple(entry), tuple(epoch)])
    keys = b"\x01" + group.id + group.secret + struct.pack(">H", len(group.epochs))
    keys += b"".join(epoch + key for epoch, key in sorted(group.epochs.items()))
    saved = {"signing": device.signing, "agreement": device.agreement, "group": keys}
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        json.dump({name: value.hex() for name, value in saved.items()}, file)


def now():
    return int(time.time() * 1000)


def set_value(folder, path, address, value):
    device, group, log, found = as_device(folder, path)
    known = values(group, log, found).get(address)
    history = [struct.pack(">Q", time) + author for time, author in known["history"]] if known else []
    owner, serializer = (known["owner"], known["serializer"]) if known else (None, "json")
    latest = max([now()] + [one[0] >> 16 for one in (known["history"] if known else [])]) + 1
    counter = latest << 16
    content = value_content(counter, device.id, latest, history, address, value.encode(), serializer, owner)
    publish(folder, device.id.hex(), list(sealed_records(group, log, device, [(group.name(address), content)])))


def damaged(data, chance):
    kind = chance.randrange(4)
    if kind == 0:
        return data[: chance.randrange(len(data))]
    if kind == 1:
        return data + bytes([chance.randrange(256)])
    place = chance.randrange(len(data))
    if kind == 2:
        return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]
    return data[:place] + chance.randbytes(len(data) - place)


def damage(folder, path, count, seed):
    _, group, log, found = as_device(folder, path)
    chance, refused, tried = random.Random(int(seed)), 0, sorted(found.items())
    writers, names = sorted({writer for writer, _ in found}), sorted({name for _, name in found})
    while refused < int(count):
        (writer, name), data = chance.choice(tried)
        other = chance.choice(writers), chance.choice(names), data
        changed = other if chance.random() < 0.3 else (writer, name, damaged(data, chance))
        is_entry = name.startswith("log-")
        if changed == (writer, name, data) or is_entry and changed[2] == data:
            continue
        try:
            if is_entry:
                opened_entry(changed[2], group)
            else:
                opened_record(group, log, bytes.fromhex(changed[0]), changed[1], changed[2])
        except (Refused, UnicodeDecodeError):
            refused += 1
            continue
        raise Refused(f"a changed record passed for one of {changed[0]} with the name {changed[1]}")
    print(f"{refused} changed ones were refused")


def example():
    """Prints one record, step by step, with keys that everybody knows."""

    def fixed(what, size=32):
        return hashlib.sha256(what.encode()).digest()[:size]

    device = Device(fixed("signing key"), fixed("agreement key"))
    epoch_key = fixed("epoch key")
    group_id, epoch = fixed("group"), fixed("group", 16)
    keys = b"\x01" + group_id + fixed("group secret") + b"\x00\x01" + epoch + epoch_key
    group = Group(keys)
    log = type("Epoch", (), {"epoch": epoch, "number": 0, "numbers": {epoch: 0}})
    address = "userDefaults/theme"
    name = group.name(address)
    content = value_content(1 << 16, device.id, 1_700_000_000_000, [], address, b'"dark"', owner="Appearance")
    bound = binding(group, epoch, device.id)
    proof = next(proofs([leaf(content, name, bound)], bound, device.signing))
    (_, record), = sealed_records(group, log, device, [(name, content)], [fixed("salt")])
    for what, value in [
        ("signing key", device.signing), ("its public key", device.signing_public), ("device's id", device.id),
        ("group's id", group_id), ("group's secret", group.secret), ("epoch's id", epoch), ("epoch's key", epoch_key),
        ("key of names", group.name_key), ("record's name", name.encode()), ("content", content),
        ("leaf", leaf(content, name, bound)), ("proof", proof), ("mark", group.mark(epoch, 2)),
        ("key of records", derived(epoch_key, b"key of records;")), ("salt", fixed("salt")), ("record", record),
    ]:
        shown_value = value.decode() if what == "record's name" else value.hex()
        lines = [shown_value[place : place + 80] for place in range(0, len(shown_value), 80)]
        print(f"{what}:")
        for line in lines:
            print(f"  {line}")


def main(command, *arguments):
    if command == "show":
        group, log, found, _ = invited(*arguments)
        print(shown(group, log, found))
    elif command == "join":
        join(*arguments)
    elif command == "list":
        _, group, log, found = as_device(*arguments)
        print(shown(group, log, found))
    elif command == "set":
        set_value(*arguments)
    elif command == "damage":
        damage(*arguments)
    elif command == "example":
        example()
    else:
        raise Refused(f"no command {command}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as refusal:
        sys.exit(f"sync_group.py: {refusal}")
