"""Programs that read, write, create, remove, count, back up and reseal in a domain while `ld-host store switch` moves it
among stores.

usage: switched_stores.py SWITCHES SEED KILLS COUNTS VALUES STORE...

Each program knows what it must find: an answer that is absent, old or an error is a violation. Of 100 switches KILLS are
killed at a random moment, and so is a writer now and then; sometimes two commands switch at once. Two apps count up to
COUNTS each in one value meanwhile, and one program creates a value again and again; none of them if COUNTS is 0. There
are VALUES that nobody changes, and about as many others.
Prints a line for each violation, and finally "SWITCHES switches", with how long writers were held at most on standard
error.
"""

import json
import os
import random
import struct
import shutil
import subprocess
import sys
import threading
import time

SWITCHES, SEED, KILLS, COUNTS, VALUES = (int(text) for text in sys.argv[1:6])
STORES = sys.argv[6:]
NAMES = VALUES // 5

stopped = threading.Event()
violations = []
finished = {}


def run(*words, **options):
    return subprocess.run(["ld-host", *words], capture_output=True, **options)


def violate(*parts):
    violations.append(" ".join(str(part)[:200] for part in parts))
    if len(violations) > 20:
        stopped.set()


class Pipe:
    """One `ld-host pipe`, for one thread."""

    def __init__(self):
        self.process = subprocess.Popen(["ld-host", "pipe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(self, op, name, value=b"", awaits=True):
        header = json.dumps({"id": 1, "op": op, "domain": "userDefaults", "name": name}).encode()
        self.process.stdin.write(struct.pack(">II", 4 + len(header) + len(value), len(header)) + header + value)
        self.process.stdin.flush()
        if not awaits:
            return None, b""
        size, count = struct.unpack(">II", self.process.stdout.read(8))
        rest = self.process.stdout.read(size - 4)
        return json.loads(rest[:count]), rest[count:]


def pipe(me):
    """Reads, sets and removes values of its own, and is killed now and then while it sets one."""
    chance = random.Random(f"{SEED} {me}")
    client, model, number = Pipe(), {}, 0
    while not stopped.is_set():
        number += 1
        name = f"{me}-{chance.randrange(NAMES)}"
        expected = model.get(name)
        op = chance.choice(["get", "set", "set", "remove", "exists"])
        if op == "set":
            value = f"{number} ".encode() + b"x" * chance.randrange(300)
            if chance.randrange(400) == 0:
                client.call("set", name, value, awaits=False)
                time.sleep(chance.random() / 50)
                client.process.kill()
                client.process.wait()
                client = Pipe()
                answer, found = client.call("get", name)
                if found not in (expected or b"", value):
                    violate(me, "get after a kill", name, answer, found, expected, value)
                model[name] = found
                if "error" in answer:
                    del model[name]
                continue
            answer, _ = client.call("set", name, value)
            model[name] = value
        else:
            answer, found = client.call(op, name)
        error = answer.get("error")
        if error and not (op == "get" and error["code"] == "notFound" and expected is None):
            violate(me, op, name, error, expected)
        elif op == "get" and (expected or b"") != found:
            violate(me, op, name, found, expected)
        elif op == "exists" and answer["exists"] != (expected is not None):
            violate(me, op, name, answer, expected)
        elif op == "remove":
            if answer["removed"] != (expected is not None):
                violate(me, op, name, answer, expected)
            model.pop(name, None)
    finished[me] = model


def command(me):
    """Sets a value and reads it, with a process for each."""
    number = 0
    while not stopped.is_set():
        number += 1
        ending = run("set", f"userDefaults/{me}", f"{number}")
        if ending.returncode:
            violate(me, "set", ending.stderr.decode())
            continue
        ending = run("get", f"userDefaults/{me}")
        if ending.stdout.decode() != f"{number}":
            violate(me, "get", ending.stdout, number, ending.stderr.decode())
    finished[me] = {me: f"{number}".encode()}


def creator(me):
    """Creates a value that must not be there, finds that it cannot be created again, and removes it."""
    while not stopped.is_set():
        for words, status in (("set", "--create"), 0), (("set", "--create"), 2), (("rm",), 0), (("exists",), 1):
            ending = run(*words, f"userDefaults/{me}", *(["1"] if words[0] == "set" else []))
            if ending.returncode != status:
                violate(me, words, ending.returncode, ending.stderr.decode())
    run("rm", f"userDefaults/{me}")
    finished[me] = {}


def batch(me):
    """Sets three values at once, which a reader finds equal."""
    number = 0
    while not stopped.is_set():
        number += 1
        changes = {f"userDefaults/{me}-{part}": {"$text": f"{number}"} for part in "abc"}
        ending = run("import", "/dev/stdin", input=json.dumps({"$addresses": changes}).encode())
        if ending.returncode:
            violate(me, "import", ending.stderr.decode())
            continue
        found = [run("get", address).stdout for address in changes]
        if found != [f"{number}".encode()] * 3:
            violate(me, found, number)
    finished[me] = {f"{me}-{part}": f"{number}".encode() for part in "abc"}


def still(number):
    return f"still-{number}", f"{number} ".encode() + b"s" * (number % 50)


STILL = dict(still(number) for number in range(VALUES))


def saver(me):
    """Writes backups, of which each has all values that nobody changes."""
    home = f"{os.environ['HOME']}/{me}"
    folders = {f"XDG_{name}_HOME": f"{home}/{name}" for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    file, secret = f"{home}/backup", ["--passphrase-fd", "0"]
    while not stopped.is_set():
        os.makedirs(home, mode=0o700)
        ending = run("backup", "--domain", "userDefaults", *secret, file, input=b"secret")
        if ending.returncode:
            violate(me, "backup", ending.stderr.decode())
        else:
            # Its values may have been sealed.
            other, store = {**os.environ, "HOME": home, **folders}, {"component": "file", "sealing": "keyFile"}
            run("config", "set", "stores.safe", json.dumps({**store, "options": {"root": f"{home}/safe"}}), env=other)
            run("config", "set", "domains.userDefaults", "safe", env=other)
            restored = run("restore", *secret, file, input=b"secret", env=other)
            found = json.loads(run("export", "userDefaults/", env=other).stdout or b"{}")
            if {name: value["$text"].encode() for name, value in found.items() if name in STILL} != STILL:
                violate(me, "restored", len(found), restored.stderr.decode())
        shutil.rmtree(home)
        time.sleep(0.2)


def sealer(me):
    """Rotates, reseals and retires the keys of the sealed stores."""
    while not stopped.is_set():
        for store in {"sealed", "vault"}.intersection(STORES):
            for words in ("keys", "rotate"), ("reseal",):
                ending = run(*words, "--store", store)
                # Nothing is sealed yet.
                if ending.returncode not in (0, 1):
                    violate(me, words, store, ending.stderr.decode())
            listed = run("keys", "list", "--store", store, "--json")
            for key in json.loads(listed.stdout or b"[]"):
                if key["state"] != "active":
                    ending = run("keys", "retire", key["id"], "--store", store)
                    # Others may have sealed with it meanwhile.
                    if ending.returncode and "still seals" not in ending.stderr.decode():
                        violate(me, "retire", store, ending.stderr.decode())
        time.sleep(0.5)


def switch(chance):
    """Switches to another store; returns how long writers were held, in milliseconds, if it was not killed."""
    processes = [
        subprocess.Popen(
            ["ld-host", "store", "switch", "userDefaults", chance.choice(STORES), "--unseal", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2 if chance.randrange(8) == 0 else 1)
    ]
    held = None
    for process in processes:
        if chance.randrange(100) < KILLS:
            time.sleep(chance.random() / 4)
            process.kill()
            process.communicate()
            continue
        output, errors = process.communicate()
        # The other command was faster.
        if process.returncode and "since a moment ago" not in errors.decode():
            violate("switch", process.args[4], process.returncode, errors.decode(), output.decode())
        elif process.returncode == 0:
            held = json.loads(output).get("heldMilliseconds") or held
    return held


def main():
    values = {f"userDefaults/{name}": {"$text": value.decode()} for name, value in STILL.items()}
    run("import", "/dev/stdin", input=json.dumps({"$addresses": values}).encode())
    finished["still"] = STILL
    works = [(pipe, 3), (command, 1), (creator, COUNTS > 0), (batch, 1), (saver, 1), (sealer, 1)]
    threads = [
        threading.Thread(target=work, args=(f"{work.__name__}{number}",)) for work, count in works for number in range(count)
    ]
    apps = [
        subprocess.Popen([os.environ["BIN"] + "/migration-exercise", *words, str(COUNTS)], stderr=subprocess.PIPE)
        for words in (["count"], ["count"], ["follow"]) if COUNTS
    ]
    for thread in threads:
        thread.start()
    chance = random.Random(SEED)
    held = []
    for _ in range(SWITCHES):
        if stopped.is_set():
            break
        time.sleep(chance.random() / 20)
        held.append(switch(chance))
    for app in apps:
        errors = app.communicate()[1]
        if app.returncode or errors:
            violate(app.args[1], app.returncode, errors.decode())
    stopped.set()
    for thread in threads:
        thread.join()
    run("ls")
    if COUNTS and run("get", "userDefaults:count/counter").stdout != f"{2 * COUNTS}".encode():
        violate("counter", run("get", "userDefaults:count/counter").stdout, 2 * COUNTS)
    expected = {name: value for model in finished.values() for name, value in model.items()}
    for name, value in expected.items():
        found = run("get", f"userDefaults/{name}").stdout
        if found != value:
            violate("at the end", name, found, value)
    listed = run("ls", "userDefaults").stdout.decode().split()
    if len(listed) != len(set(listed)) or {f"userDefaults/{name}" for name in expected} != {
        address for address in listed if not address.startswith(("userDefaults:", "userDefaults/Followed."))
    }:
        violate("listed", sorted(set(listed) ^ {f"userDefaults/{name}" for name in expected}))
    left = run("doctor").stdout.decode()
    if "!!" in left:
        violate("doctor", left[left.index("!!") :])
    for violation in violations:
        print(violation)
    known = sorted(time for time in held if time is not None)
    if known:
        print(f"held for {known[len(known) // 2]:.0f} ms, at most {known[-1]:.0f} ms", file=sys.stderr)
    print(f"{len(held)} switches")


main()
