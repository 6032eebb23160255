"""Runs programs next to a test, each under a name, until its standard input ends.

An order is one line of JSON: {"name", "words", "environment", "output"} starts a program whose output is appended to a
file, and its standard error to that file with ".errors"; {"name"} alone kills it with all its children. Prints
"ready" at the start and after each order. A program that fails by itself ends the supervisor, too.
"""
import json
import os
import signal
import subprocess
import sys

running = {}


def start(name, words, environment, output):
    with open(output, "ab") as out, open(f"{output}.errors", "ab") as errors:
        running[name] = subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True)


def kill(name):
    program = running.pop(name, None)
    if program is None:
        return
    status = program.poll()
    if status is None:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
    elif status != 0:
        sys.exit(f"{name} ended by itself with status {status}")


def main():
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        kill(order["name"])
        if "words" in order:
            start(**order)
        print("ready", flush=True)


for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
    signal.signal(number, lambda number, _: sys.exit(128 + number))
sys.stderr = sys.stdout
try:
    main()
finally:
    for program in running.values():
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
