"""Measures how the commands that visit every value grow with the number of values, and prints rows of the table.

usage: growth.py LD-HOST FOLDER [COUNT [PROCESSES]]

Each command runs on COUNT values (2,000), and on ten times as many: that may take 12 times as long, and memory for some
names more. Then PROCESSES (1,000) processes set a value each: the last ones may cost what the first ones did.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time

program, folder = sys.argv[1], sys.argv[2]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
processes = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
ROUNDS = 3
KINDS = {
    "file": ("file", "sqlite"), "sqlite": ("sqlite", "file"), "sealed": ("sealed", "sealed"),
    "memory": ("memory", "file")}
COMMANDS = {
    "import": ["import", "left", "values.json"], "export": ["export", "left"], "ls -l": ["ls", "-l", "left"],
    "audit": ["audit"], "store copy": ["store", "copy", "left", "right"], "migrate run": ["migrate", "run"],
    "migrate rollback": ["migrate", "rollback", "all"]}


def store(kind, name, home):
    if kind == "memory":
        return {"component": "memory"}
    if kind == "sqlite":
        return {"component": "sqlite", "options": {"path": f"{home}/{name}.sqlite"}}
    made = {"component": "file", "options": {"root": f"{home}/{name}"}}
    return {**made, "sealing": "keyFile"} if kind == "sealed" else made


def make_home(kind, values):
    """A new home whose domain `left` is served by one store, and `right` by another."""
    home = f"{folder}/growth"
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
    with open(f"{home}/values.json", "w") as file:
        json.dump({f"key-{number:07}": f"value {number} " + "x" * 80 for number in range(values)}, file)
    names = ("CONFIG", "DATA", "STATE", "CACHE")
    variables = {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in names}
    return home, {**os.environ, "HOME": home, **variables}


def run(words, home, environment):
    """Seconds, and KiB of memory at the most."""
    start = time.monotonic()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen([program, *words], cwd=home, env=environment, **quiet)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"ld-host {' '.join(words)} ended with {child.returncode}")
    return time.monotonic() - start, usage.ru_maxrss


def measure(kind, values):
    """Of each command the median of its times and the most memory that it took."""
    found = {}
    for _ in range(ROUNDS):
        home, environment = make_home(kind, values)
        # Starts with plugins that are known.
        run(["config", "validate"], home, environment)
        for name, words in COMMANDS.items():
            if kind == "memory" and name != "import":
                continue
            found.setdefault(name, []).append(run(words, home, environment))
    return {name: (statistics.median(s for s, _ in all), max(m for _, m in all)) for name, all in found.items()}


def row(what, ours, baseline, ratio, aim, is_met):
    print(f"| {what} | {ours} | {baseline} | {ratio} | {aim} | {'met' if is_met else '**not met**'} |", flush=True)


for kind in KINDS:
    few, many = measure(kind, count), measure(kind, 10 * count)
    for name in many:
        (time_of_few, memory_of_few), (time_of_many, memory_of_many) = few[name], many[name]
        ratio = time_of_many / time_of_few
        row(f"`{name}` of {10 * count:,} values, {kind}; of {count:,}", f"{time_of_many * 1e3:.0f} ms",
            f"{time_of_few * 1e3:.0f} ms", f"{ratio:.1f}", "<= 12x", ratio <= 12)
        row("memory of the same", f"{memory_of_many / 1024:.0f} MiB", f"{memory_of_few / 1024:.0f} MiB", "",
            "<= 16 MiB more", memory_of_many - memory_of_few <= 16 << 10)

home, environment = make_home("sqlite", 0)
times = [run(["set", f"left/key-{number % 500}", "value"], home, environment)[0] for number in range(processes)]
first, last = statistics.median(times[1:51]), statistics.median(times[-50:])
row(f"the {processes:,}th process that sets one of 500 values, sqlite; the first", f"{last * 1e6:.0f} us",
    f"{first * 1e6:.0f} us", f"{last / first:.2f}", "<= 1.25x", last <= 1.25 * first)
shutil.rmtree(home)
