"""Measures `ld-host store switch`, and prints rows of the table.

usage: switching.py LD-HOST FOLDER [COUNT [SWITCHES]]

A switch of COUNT values (100,000) and a `store copy --move` of as many are measured in turn, with nobody else at work;
a switch may take 1.2 times as long. Then 10,000 values are switched SWITCHES times (100) while two programs set values
without a pause. Those may be held for 50 ms in 99 of 100 switches.
"""

import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import threading
import time

program, folder = sys.argv[1], sys.argv[2]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
switches = int(sys.argv[4]) if len(sys.argv) > 4 else 100
ROUNDS = 3
DOMAIN = "userDefaults"


class Home:
    """A home with two stores, of which the first serves the domain."""

    def __init__(self, first, second, values):
        self.path = f"{folder}/switching"
        shutil.rmtree(self.path, ignore_errors=True)
        os.makedirs(f"{self.path}/CONFIG/localdata", mode=0o700)
        folders = {f"XDG_{name}_HOME": f"{self.path}/{name}" for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        self.environment = {**os.environ, **folders, "HOME": self.path, "LOCALDATA_PROGRESS_DELAY": "2000000000"}
        self.run("config", "set", f"domains.{DOMAIN}", first)
        self.stores = [first, second]
        entries = {f"{DOMAIN}/k{number}": {"$text": f"value {number} " + "x" * 100} for number in range(values)}
        self.run("import", "/dev/stdin", input=json.dumps({"$addresses": entries}))

    def run(self, *words, **options):
        ending = subprocess.run(
            [program, *words], capture_output=True, text=True, env=self.environment, check=False, **options)
        if ending.returncode:
            sys.exit(f"{words}: {ending.stderr}")
        return ending.stdout

    def switch(self):
        """Switches; returns the seconds that it took, and the milliseconds that writers were held."""
        self.stores.reverse()
        start = time.monotonic()
        report = json.loads(self.run("store", "switch", DOMAIN, self.stores[0], "--json"))
        return time.monotonic() - start, report["heldMilliseconds"]

    def move(self):
        """Copies, and removes the values from the former store; returns the seconds that it took."""
        former = self.stores[0]
        self.stores.reverse()
        self.run("config", "set", f"domains.{DOMAIN}", self.stores[0], "--anyway")
        start = time.monotonic()
        self.run("store", "copy", former, self.stores[0], "--domain", DOMAIN, "--move")
        return time.monotonic() - start


def write(home, number, stopped):
    """Sets one value after the other in one process."""
    with subprocess.Popen(
            [program, "pipe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=home.environment) as pipe:
        header = json.dumps({"id": 1, "op": "set", "domain": DOMAIN, "name": f"writer{number}"}).encode()
        while not stopped.is_set():
            value = b"%d" % time.monotonic_ns()
            pipe.stdin.write(struct.pack(">II", 4 + len(header) + len(value), len(header)) + header + value)
            pipe.stdin.flush()
            size, = struct.unpack(">I", pipe.stdout.read(4))
            if b"error" in (answer := pipe.stdout.read(size)):
                sys.exit(f"pipe: {answer}")
        pipe.stdin.close()


def row(what, ours, theirs, ratio, aim, is_met):
    print(f"| {what} | {ours} | {theirs} | {ratio} | {aim} | {'met' if is_met else '**not met**'} |", flush=True)


for first, second in ("file", "sqlite"), ("sqlite", "file"):
    times = []
    for _ in range(ROUNDS):
        # New homes, since a database that had the values has the space for them.
        switched = Home(first, second, count).switch()[0]
        times.append((switched, Home(first, second, count).move()))
    ratio = statistics.median(ours / theirs for ours, theirs in times)
    ours, theirs = (statistics.median(side) for side in zip(*times))
    row(
        f"`store switch` of {count:,} values from `{first}` to `{second}`; `store copy --move`", f"{ours:.2f} s",
        f"{theirs:.2f} s", f"{ratio:.2f}", "<= 1.20x", ratio <= 1.2)

home, stopped = Home("file", "sqlite", 10_000), threading.Event()
writers = [threading.Thread(target=write, args=(home, number, stopped)) for number in range(2)]
for writer in writers:
    writer.start()
held = sorted(home.switch()[1] for _ in range(switches))
stopped.set()
for writer in writers:
    writer.join()
shutil.rmtree(home.path)
longest = held[-1 - len(held) // 100]
row(
    f"programs that write, held by a `store switch` of 10,000 values: 99 of 100 of {switches} switches",
    f"{longest:.1f} ms", f"median {statistics.median(held):.1f} ms", "", "<= 50 ms", longest <= 50)
