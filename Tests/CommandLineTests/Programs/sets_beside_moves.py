"""Writers that set values of two stores while ld-host moves all values from one store to the other.

usage: sets_beside_moves.py ACTION FROM TO SETS SEED

ACTION is "copy" (store copy --move) or "migrate" (migrate run); FROM and TO are kinds of stores: file, sqlite, sealed.
(The memory store does not outlive a process.) The home is the environment's. Every key has one writer, which sets the
next value once the last one is acknowledged, so the last value is known. In each round a third of the keys is set at
the source, a third at the destination, and a third not at all. Rounds continue until SETS sets have been acknowledged.
Prints a line for each violation, and finally "SETS acknowledged sets in ROUNDS rounds".
"""

import json
import os
import random
import struct
import subprocess
import sys
import threading

KEYS = 60
# For each of the two stores: the domain of its values, and the configuration.
SIDES = {}


class Pipe:
    """One `ld-host pipe` with access to the values of one of the two stores, for one thread."""

    def __init__(self, side):
        self.domain, configuration = SIDES[side]
        self.process = subprocess.Popen(
            ["ld-host", "pipe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "LOCALDATA_CONFIG": configuration})

    def call(self, op, name, value=b""):
        header = json.dumps({"id": 1, "op": op, "domain": self.domain, "name": name}).encode()
        frame = struct.pack(">II", 4 + len(header) + len(value), len(header)) + header + value
        self.process.stdin.write(frame)
        self.process.stdin.flush()
        size, count = struct.unpack(">II", self.process.stdout.read(8))
        rest = self.process.stdout.read(size - 4)
        return json.loads(rest[:count]), rest[count:]

    def set(self, name, text):
        answer, _ = self.call("set", name, text.encode())
        if "error" in answer:
            raise SystemExit(f"cannot set {name}: {answer['error']}")

    def get(self, name):
        answer, value = self.call("get", name)
        if "error" not in answer:
            return value.decode()
        # The other store may have it.
        if answer["error"]["code"] != "notFound" and not answer["error"]["message"].endswith("has it"):
            raise SystemExit(f"cannot get {name}: {answer['error']}")
        return None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def store(kind, name, home):
    if kind == "sqlite":
        return {"component": "sqlite", "options": {"path": f"{home}/data/{name}.sqlite"}}
    made = {"component": "file", "options": {"root": f"{home}/data/{name}"}}
    return {**made, "sealing": "keyFile"} if kind == "sealed" else made


def write(side, keys, last, done, seed):
    """Sets keys of one store in random order until the move is over."""
    order, pipe, count = random.Random(seed), Pipe(side), 0
    while not done.is_set():
        name = order.choice(keys)
        count += 1
        text = f"{side} {count} " + "x" * order.choice([1, 100, 5000])
        pipe.set(name, text)
        last[name] = text
    last[None] = count
    pipe.close()


def configure(done, errors):
    """Changes a setting again and again."""
    number = 0
    while not done.wait(0.05):
        number += 1
        ending = subprocess.run(
            ["ld-host", "config", "set", "app.version", f'"1.0.{number}"'], capture_output=True, text=True)
        if ending.returncode != 0:
            errors.append(f"config set: {ending.stderr.strip()}")


def move(action, number):
    words = ["store", "copy", "left", "right", "--move"]
    if action == "migrate":
        words = ["migrate", "run", "--only", f"round{number}"]
    ending = subprocess.run(["ld-host", *words], capture_output=True, text=True)
    # Status 2 means that some values stay where they are.
    if ending.returncode not in (0, 2):
        return f"{words}: status {ending.returncode}, {ending.stderr.strip()}"
    return None


def a_round(action, number, seed, left_pipe, right_pipe):
    names = [f"round{number}.{key}" for key in range(KEYS)]
    for name in names:
        left_pipe.set(name, f"first {name}")
    at_source, at_destination = {}, {}
    done, errors = threading.Event(), []
    threads = [
        threading.Thread(target=write, args=("left", names[0::3], at_source, done, seed * 2)),
        threading.Thread(target=write, args=("right", names[1::3], at_destination, done, seed * 2 + 1)),
        threading.Thread(target=configure, args=(done, errors)),
    ]
    for thread in threads:
        thread.start()
    for _ in range(2):
        error = move(action, number)
        if error:
            errors.append(error)
    done.set()
    for thread in threads:
        thread.join()
    for name in names:
        left, right = left_pipe.get(name), right_pipe.get(name)
        what = f"{name}: left {str(left)[:40]!r}, right {str(right)[:40]!r}"
        if name in at_destination:
            if right != at_destination[name]:
                errors.append(f"{what}; overwritten at the destination: {at_destination[name][:40]!r}")
        elif name in at_source:
            if at_source[name] not in (left, right):
                errors.append(f"{what}; lost from the source: {at_source[name][:40]!r}")
            elif left is not None and left != at_source[name]:
                errors.append(f"{what}; an older value is at the source: {at_source[name][:40]!r}")
        elif f"first {name}" not in (left, right):
            errors.append(f"{what}; lost without a set")
    return at_source[None] + at_destination[None], errors


def main():
    action, source, destination, least, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    home = os.environ["HOME"]
    os.makedirs(f"{home}/config/localdata", exist_ok=True)
    steps = [
        {"id": f"round{number}", "move": {"from": f"left/round{number}.*", "to": f"right/round{number}.*"}}
        for number in range(200)]
    stores = {"left": store(source, "left", home), "right": store(destination, "right", home)}
    packs = {"ours": {"component": "standard", "options": {"manifest": steps}}}
    first, second = f"{home}/config/localdata/config.json", f"{home}/second.json"
    for path, domains in (first, {"left": "left", "right": "right"}), (second, {"left": "right"}):
        with open(path, "w") as file:
            json.dump({"stores": stores, "domains": domains, "migrations": {"packs": packs}}, file)
    # A copied value has the same address in the other store. It is visible when that store serves the domain.
    SIDES.update(left=("left", first), right=("left", second) if action == "copy" else ("right", first))
    left_pipe, right_pipe, count, number = Pipe("left"), Pipe("right"), 0, 0
    while count < least and number < 200:
        sets, errors = a_round(action, number, seed + number, left_pipe, right_pipe)
        for error in errors:
            print(f"{action} {source} to {destination}, round {number}: {error}")
        count, number = count + sets, number + 1
    left_pipe.close()
    right_pipe.close()
    print(f"{count} acknowledged sets in {number} rounds")


main()
