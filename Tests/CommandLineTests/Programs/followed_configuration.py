"""A program that runs while its store is swapped: `ld-host pipe`, asked before and after each `ld-host config set`.

    followed_configuration.py ROUNDS
"""
import json
import struct
import subprocess
import sys


def ask(pipe, number, op, value=b""):
    header = json.dumps({"id": number, "op": op, "domain": "userDefaults", "name": "k"}).encode()
    pipe.stdin.write(struct.pack(">II", 4 + len(header) + len(value), len(header)) + header + value)
    pipe.stdin.flush()
    size, length = struct.unpack(">II", pipe.stdout.read(8))
    header = json.loads(pipe.stdout.read(length))
    return header, pipe.stdout.read(size - 4 - length)


def run(*words):
    subprocess.run(("ld-host",) + words, check=True, capture_output=True)


rounds = int(sys.argv[1])
for store in ("file", "sqlite"):
    run("-c", "domains.userDefaults=" + store, "set", "userDefaults/k", "in " + store)
run("config", "set", "domains.userDefaults", "sqlite")
with subprocess.Popen(("ld-host", "pipe"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as pipe:
    for number in range(rounds):
        store = ("file", "sqlite")[number % 2]
        run("config", "set", "domains.userDefaults", store)
        answer, value = ask(pipe, 3 * number, "get")
        if "error" in answer or value.decode() != "in " + store:
            sys.exit("round %d: %s answers %s %s" % (number, store, answer, value))
        answer, _ = ask(pipe, 3 * number + 1, "exists")
        if answer.get("exists") is not True:
            sys.exit("round %d: %s" % (number, answer))
        ask(pipe, 3 * number + 2, "set", ("in " + store).encode())
    pipe.stdin.close()
print("followed %d times" % rounds)
