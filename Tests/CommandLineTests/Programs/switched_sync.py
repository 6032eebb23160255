"""Two devices that sync while `ld-host store switch` moves the values of one of them among its stores.

usage: switched_sync.py SWITCHES SEED

Each device sets and removes keys of its own, so both must have the last of it at the end, and no version lost. Prints a
line for each violation, and finally "SWITCHES switches".
"""

import json
import os
import random
import subprocess
import sys
import threading
import time

SWITCHES, SEED = (int(text) for text in sys.argv[1:])
ROOT, NAMES = os.environ["HOME"], 30
stopped = threading.Event()
violations = []
model = {}


def violate(*parts):
    violations.append(" ".join(str(part)[:300] for part in parts))


class Device:
    def __init__(self, name, own):
        self.name, self.own, self.home = name, own, f"{ROOT}/{name}"
        folders = {f"XDG_{name}_HOME": f"{self.home}/{name}" for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        self.environment = {**os.environ, "HOME": self.home, **folders}
        os.makedirs(self.home, mode=0o700)

    def run(self, *words, **options):
        return subprocess.run(["ld-host", *words], capture_output=True, text=True, env=self.environment, **options)

    def done(self, *words, **options):
        ending = self.run(*words, **options)
        if ending.returncode:
            violate(self.name, words, ending.returncode, ending.stderr)
        return ending.stdout

    def configure(self):
        sealed = {"component": "file", "options": {"root": f"{self.home}/sealed"}, "sealing": "keyFile"}
        for path, value in (
            ("catalogs", [f"{ROOT}/catalog"]), ("sync", {"transport": "folder", "options": {"folder": f"{ROOT}/shared"}}),
            ("stores.sealed", sealed),
        ):
            self.done("config", "set", path, json.dumps(value))

    def work(self):
        """Sets, removes and syncs until the switches are over."""
        chance, number = random.Random(f"{SEED} {self.name}"), 0
        while not stopped.is_set():
            number += 1
            name = chance.choice(self.own)
            if chance.random() < 0.15:
                self.run("rm", f"userDefaults/{name}")
                model.pop(name, None)
            else:
                self.done("set", f"userDefaults/{name}", f"{self.name} {number}")
                model[name] = f"{self.name} {number}"
            if chance.random() < 0.3:
                self.done("sync", chance.choice(["push", "pull"]))

    def check(self):
        exported = json.loads(self.done("export", "userDefaults"))["$addresses"]
        found = {address.partition("/")[2]: value["$text"] for address, value in exported.items()}
        for name in sorted(set(found) | set(model)):
            if found.get(name) != model.get(name):
                violate(self.name, name, "is", found.get(name), "not", model.get(name))
        if conflicts := self.done("sync", "conflicts"):
            violate(self.name, "lost", conflicts)
        if "!!" in (report := self.run("doctor").stdout):
            violate(self.name, report[report.index("!!") :])


def main():
    names = [f"k{number}" for number in range(NAMES)]
    keys = [
        {"address": f"userDefaults/{name}", "security": "none", "serializer": "text", "type": "String", "owner": "Tests",
         "description": "A value.", "availability": "all", "sync": "automaticSmall"}
        for name in names
    ]
    with open(f"{ROOT}/catalog", "w") as file:
        json.dump({"format": 1, "name": "Tests", "keys": keys}, file)
    os.mkdir(f"{ROOT}/shared")
    desk, laptop = devices = Device("desk", names[::2]), Device("laptop", names[1::2])
    for device in devices:
        device.configure()
    desk.done("sync", "init", "--name", "desk")
    laptop.done("sync", "join", "--name", "laptop", input=desk.done("sync", "invite"))
    threads = [threading.Thread(target=device.work) for device in devices]
    for thread in threads:
        thread.start()
    chance = random.Random(SEED)
    for _ in range(SWITCHES):
        time.sleep(chance.random() / 3)
        desk.done("store", "switch", "userDefaults", chance.choice(["file", "sqlite", "sealed"]), "--unseal")
    stopped.set()
    for thread in threads:
        thread.join()
    for _ in range(2):
        for device in devices:
            device.done("sync", "push")
            device.done("sync", "pull")
    for device in devices:
        device.check()
    for violation in violations:
        print(violation)
    print(f"{SWITCHES} switches")


main()
