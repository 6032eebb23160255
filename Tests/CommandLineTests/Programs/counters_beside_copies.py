"""Writers that count in values of two stores between a copy and the move that follows.

usage: counters_beside_copies.py ROUNDS

The values are those of `userDefaults`, in the stores `sqlite` and `plain`. In each round, four writers read counters and
set the next number: two of them started before `domains.userDefaults` was changed from one store to the other, and two
after that. When they have stopped, `store copy --move` moves what the former store has. The writer that was the last
one to set a counter is known from the clock. Prints a line for each violation, and finally "COUNT counts in ROUNDS
rounds".
"""

import json
import os
import random
import struct
import subprocess
import sys
import threading
import time

KEYS = ["one", "two", "three"]
# Two times closer than this may be in any order, and a person decides.
CLOSE = 0.05


class Pipe:
    """One `ld-host pipe`, for one thread."""

    def __init__(self):
        self.process = subprocess.Popen(["ld-host", "pipe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.get(KEYS[0])

    def call(self, op, name, value=b""):
        header = json.dumps({"id": 1, "op": op, "domain": "userDefaults", "name": name}).encode()
        frame = struct.pack(">II", 4 + len(header) + len(value), len(header)) + header + value
        self.process.stdin.write(frame)
        self.process.stdin.flush()
        size, count = struct.unpack(">II", self.process.stdout.read(8))
        rest = self.process.stdout.read(size - 4)
        answer = json.loads(rest[:count])
        if "error" in answer:
            raise SystemExit(f"{op} {name}: {answer['error']}")
        return rest[count:]

    def get(self, name):
        return self.call("get", name).decode()

    def set(self, name, text):
        self.call("set", name, text.encode())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def run(*words, allowed=(0,)):
    ending = subprocess.run(["ld-host", *words], capture_output=True, text=True)
    if ending.returncode not in allowed:
        raise SystemExit(f"{words}: status {ending.returncode}, {ending.stderr.strip()}")
    return ending


def count(side, pipe, until, writes, seed):
    """Counts until the round is over; keeps when each write began and was answered, and its value."""
    order = random.Random(seed)
    while not until.is_set():
        name = order.choice(KEYS)
        text = f"{int(pipe.get(name).split()[0]) + 1} {side} {seed}"
        begun = time.time()
        pipe.set(name, text)
        writes.append((name, begun, time.time(), text))
    pipe.close()


def a_round(number, former, later, complaints):
    run("store", "copy", former, later, "--domain", "userDefaults")
    until, writes, threads = threading.Event(), [], []

    def start(side):
        for seed in range(2):
            arguments = side, Pipe(), until, writes, 4 * number + seed
            threads.append(threading.Thread(target=count, args=arguments))
            threads[-1].start()

    start(former)
    run("config", "set", "domains.userDefaults", later)
    start(later)
    while len(writes) < 200:
        time.sleep(0.001)
    until.set()
    for thread in threads:
        thread.join()
    moved = run("store", "copy", former, later, "--domain", "userDefaults", "--move", allowed=(0, 2))
    if "nothing was copied" in moved.stderr:
        complaints.append(f"round {number}: refused: {moved.stderr}")
    for name in KEYS:
        found = run("get", f"userDefaults/{name}").stdout
        sides = []
        for side in (former, later):
            mine = [(begun, ended) for key, begun, ended, text in writes if key == name and f" {side} " in text]
            # The store wrote the last one at some time between.
            sides.append((max(begun for begun, _ in mine), max(ended for _, ended in mine)) if mine else None)
        if None in sides:
            continue
        if sides[0][0] - sides[1][1] >= CLOSE:
            winner = former
        elif sides[1][0] - sides[0][1] >= CLOSE:
            winner = later
        else:
            continue
        # The last two writers of one store may have been answered in another order than they wrote.
        if found.split()[1] != winner:
            complaints.append(f"round {number}: {name} is '{found}'; the last ones of {former} and {later}: {sides}")
        if f"differs: userDefaults/{name}" in moved.stderr:
            complaints.append(f"round {number}: {name} is undecided: {moved.stderr}")
    # What a person would do with those that were written at the same time.
    run("store", "copy", former, later, "--domain", "userDefaults", "--move", "--keep")
    return len(writes)


def main():
    rounds, complaints, counts = int(sys.argv[1]), [], 0
    run("config", "set", "stores.plain", json.dumps(
        {"component": "file", "options": {"root": f"{os.environ['HOME']}/plain"}}))
    run("config", "set", "domains.userDefaults", "sqlite")
    for name in KEYS:
        run("set", f"userDefaults/{name}", "0 first 0")
    stores = ["sqlite", "plain"]
    for number in range(rounds):
        counts += a_round(number, *stores, complaints)
        stores.reverse()
    for complaint in complaints:
        print(complaint)
    print(f"{counts} counts in {rounds} rounds")


main()
