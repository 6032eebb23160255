"""Measures how the commands that visit every value grow with the number of values, and prints rows of the table.

usage: growth.py LD-HOST FOLDER [COUNT [PROCESSES [KIND...]]]

Each command runs on COUNT values (2,000), and on ten times as many. That may take 12 times as long, and memory for
some more names. Then PROCESSES (10,000) processes set a value each. The last ones may cost as much as the first ones on
a new store, measured in turn.
KINDs are stores: file, sqlite, sealed, sealed-sqlite, memory; all of them by default.

The first row measures the file system alone: files are written, and renamed over as many others. On some file systems
(such as ext4 without a journal, or one that discards blocks as they become free) each takes longer the more there are.
Then the rows of file stores mean nothing, and FOLDER has to be on another file system.
"""

import ctypes
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import time

program, folder = sys.argv[1], sys.argv[2]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
libc = ctypes.CDLL(None)
processes = int(sys.argv[4]) if len(sys.argv) > 4 else 10_000
ROUNDS = 3
# The most values that `import` stores at once.
BATCH = 4096
# The number of processes that are measured.
LAST = 50
KINDS = {
    "file": ("file", "sqlite"), "sqlite": ("sqlite", "file"), "sealed": ("sealed", "sealed"),
    "sealed-sqlite": ("sealed-sqlite", "sealed-sqlite"), "memory": ("memory", "file")}
# The arguments of each command, and the file that it reads from standard input.
COMMANDS = {
    "import": ("import left values.json", None), "ls": ("ls left", None), "ls -l": ("ls -l left", None),
    "export": ("export left", None), "audit": ("audit", None), "audit --json": ("audit --json", None),
    "doctor --scrub": ("doctor --scrub", None), "store copy": ("store copy left right", None),
    "keys list --values": ("keys list --store left --values", None), "keys rotate": ("keys rotate --store left", None),
    "reseal": ("reseal --store left", None), "migrate plan": ("migrate plan", None),
    "migrate run": ("migrate run", None), "migrate rollback": ("migrate rollback all", None)}
SEALED = {"keys list --values", "keys rotate", "reseal"}
# The commands that one process can run on values that end with it.
MEMORY_COMMANDS = {
    "import": COMMANDS["import"], "batch": ("batch changes.jsonl", None), "pipe": ("pipe", "frames")}
# Commands that hold their whole input in memory, as their help says: `batch` is all or none.
HOLDING = {"batch"}


def commands(kind):
    if kind == "memory":
        return MEMORY_COMMANDS
    return {name: command for name, command in COMMANDS.items() if "sealed" in kind or name not in SEALED}


def store(kind, name, home):
    if kind == "memory":
        return {"component": "memory"}
    is_database = kind.endswith("sqlite")
    made = (
        {"component": "sqlite", "options": {"path": f"{home}/{name}.sqlite"}} if is_database
        else {"component": "file", "options": {"root": f"{home}/{name}"}})
    return {**made, "sealing": "keyFile"} if "sealed" in kind else made


def frame(header, value=b""):
    header = json.dumps(header).encode()
    return struct.pack(">II", 4 + len(header) + len(value), len(header)) + header + value


def make_home(kind, values, name="growth"):
    """A new home whose domain `left` is served by one store, and `right` by another."""
    home = f"{folder}/{name}"
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(f"{home}/config/localdata")
    left, right = KINDS[kind]
    configuration = {
        "stores": {"left": store(left, "left", home), "right": store(right, "right", home)},
        "domains": {"left": "left", "right": "right"},
        "migrations": {"packs": {"ours": {"component": "standard", "options": {
            "manifest": [{"id": "all", "move": {"from": "left/*", "to": "right/*"}}]}}}}}
    with open(f"{home}/config/localdata/config.json", "w") as file:
        json.dump(configuration, file)
    entries = {f"key-{number:07}": f"value {number} " + "x" * 80 for number in range(values)}
    with open(f"{home}/values.json", "w") as file:
        json.dump(entries, file)
    if kind == "memory":
        with open(f"{home}/changes.jsonl", "w") as file:
            for name, value in entries.items():
                print(json.dumps({"set": f"left/{name}", "value": value}), file=file)
        with open(f"{home}/frames", "wb") as file:
            for number, (name, value) in enumerate(entries.items()):
                file.write(frame({"id": number, "op": "set", "domain": "left", "name": name}, value.encode()))
            for number, name in enumerate(entries):
                file.write(frame({"id": number, "op": "get", "domain": "left", "name": name}))
    names = ("CONFIG", "DATA", "STATE", "CACHE")
    variables = {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in names}
    return home, {**os.environ, "HOME": home, **variables}


def run(words, home, environment, given=None):
    """Seconds, and the peak of memory in KiB."""
    start = time.monotonic()
    with open(f"{home}/{given}" if given else os.devnull) as file:
        child = subprocess.Popen(
            [program, *words], cwd=home, env=environment, stdin=file, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"ld-host {' '.join(words)} ended with {child.returncode}")
    return time.monotonic() - start, usage.ru_maxrss


def measure(kind, values):
    """For each command the median of its times and its peak of memory."""
    found = {}
    for _ in range(ROUNDS):
        home, environment = make_home(kind, values)
        # Starts with plugins that have been inspected.
        run(["config", "validate"], home, environment)
        for name, (words, given) in commands(kind).items():
            found.setdefault(name, []).append(run(words.split(), home, environment, given))
    return {name: (statistics.median(s for s, _ in all), max(m for _, m in all)) for name, all in found.items()}


def replace_files(files):
    """Seconds that it takes to write files and to rename them over as many others, as a batch of the file store does."""
    home = f"{folder}/growth"
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(f"{home}/new")
    directory = os.open(home, os.O_RDONLY)
    for _ in range(2):
        start = time.monotonic()
        for first in range(0, files, BATCH):
            numbers = range(first, min(first + BATCH, files))
            for number in numbers:
                with open(f"{home}/new/{number}", "wb") as file:
                    file.write(b"x" * 100)
            libc.syncfs(directory)
            for number in numbers:
                os.rename(f"{home}/new/{number}", f"{home}/{number}")
            os.fsync(directory)
        taken = time.monotonic() - start
    os.close(directory)
    return taken


def row(what, ours, baseline, ratio, aim, is_met):
    print(f"| {what} | {ours} | {baseline} | {ratio} | {aim} | {'met' if is_met else '**not met**'} |", flush=True)


def time_row(what, many, few):
    row(what, f"{many * 1e3:.0f} ms", f"{few * 1e3:.0f} ms", f"{many / few:.1f}", "<= 12x", many <= 12 * few)


def measure_processes(kind):
    """Runs the last of many processes on one store and the first ones on a new one, in turn."""
    def set_value(number, home, environment):
        return run(["set", f"left/key-{number % 500}", "value"], home, environment)[0]

    old = make_home(kind, 0)
    for number in range(processes - LAST):
        set_value(number, *old)
    new = make_home(kind, 0, "growth-new")
    set_value(0, *new)
    times = [(set_value(processes - LAST + number, *old), set_value(1 + number, *new)) for number in range(LAST)]
    last, first = (statistics.median(side) for side in zip(*times))
    ratio = statistics.median(last / first for last, first in times)
    row(f"the {processes:,}th process that sets one of 500 values, {kind}; the first", f"{last * 1e6:.0f} us",
        f"{first * 1e6:.0f} us", f"{ratio:.2f}", "<= 1.25x", ratio <= 1.25)


def main(kinds):
    times = [replace_files(files) for files in (10 * count, count)]
    time_row(f"the file system alone: {10 * count:,} files replaced; {count:,}", *times)
    for kind in kinds:
        few, many = measure(kind, count), measure(kind, 10 * count)
        for name in many:
            (time_of_few, memory_of_few), (time_of_many, memory_of_many) = few[name], many[name]
            time_row(f"`{name}` of {10 * count:,} values, {kind}; of {count:,}", time_of_many, time_of_few)
            # A store in memory holds the values themselves.
            if kind == "memory" or name in HOLDING:
                continue
            row("memory of the same", f"{memory_of_many / 1024:.0f} MiB", f"{memory_of_few / 1024:.0f} MiB", "",
                "<= 16 MiB more", memory_of_many - memory_of_few <= 16 << 10)
    for kind in ("file", "sqlite") if processes else ():
        measure_processes(kind)
    for name in ("growth", "growth-new"):
        shutil.rmtree(f"{folder}/{name}", ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[5:] or KINDS)
