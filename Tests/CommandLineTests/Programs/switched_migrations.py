"""A migration of many values while `ld-host store switch` moves the domain that it takes them from, and the one that it
brings them to.

usage: switched_migrations.py ROUNDS VALUES SEED

Each round has a home of its own, and stores of random kinds. Prints a line for each violation, and finally
"ROUNDS rounds".
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time

ROUNDS, VALUES, SEED = (int(text) for text in sys.argv[1:])
KINDS = ["file", "sqlite", "sealed"]


class Round:
    def __init__(self, number):
        self.chance = random.Random(f"{SEED} {number}")
        self.home = f"{os.environ['HOME']}/round{number}"
        folders = {f"XDG_{name}_HOME": f"{self.home}/{name}" for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        self.environment = {**os.environ, "HOME": self.home, **folders}
        self.kinds = [self.chance.choice(KINDS) for _ in range(4)]
        self.what = f"round {number}, {' '.join(self.kinds)}:"
        self.violations = []

    def run(self, *words, **options):
        return subprocess.run(["ld-host", *words], capture_output=True, text=True, env=self.environment, **options)

    def violate(self, *parts):
        self.violations.append(" ".join(str(part)[:300] for part in (self.what, *parts)))

    def store(self, kind, name):
        if kind == "sqlite":
            return {"component": "sqlite", "options": {"path": f"{self.home}/{name}.sqlite"}}
        made = {"component": "file", "options": {"root": f"{self.home}/{name}"}}
        return {**made, "sealing": "keyFile"} if kind == "sealed" else made

    def prepare(self):
        os.makedirs(f"{self.home}/CONFIG/localdata", mode=0o700)
        step = {"id": "all", "move": {"from": "left/k.*", "to": "right/k.*"}}
        configuration = {
            "stores": {f"store{index}": self.store(kind, f"store{index}") for index, kind in enumerate(self.kinds)},
            "domains": {"left": "store0", "right": "store1"},
            "migrations": {"packs": {"ours": {"component": "standard", "options": {"manifest": [step]}}}},
        }
        with open(f"{self.home}/CONFIG/localdata/config.json", "w") as file:
            json.dump(configuration, file)
        values = {f"left/k.{number}": {"$text": f"value {number}"} for number in range(VALUES)}
        ending = self.run("import", "/dev/stdin", input=json.dumps({"$addresses": values}))
        if ending.returncode:
            self.violate("import", ending.stderr)

    def play(self):
        self.prepare()
        migration = subprocess.Popen(
            ["ld-host", "migrate", "run"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self.environment)
        time.sleep(self.chance.random() / 2)
        for domain, store in self.chance.sample([("left", "store2"), ("right", "store3")], 2):
            ending = self.run("store", "switch", domain, store, "--unseal")
            if ending.returncode:
                self.violate("switch", domain, ending.stderr)
        output, errors = migration.communicate()
        if migration.returncode:
            self.violate("migrate", migration.returncode, errors, output)
        self.check()

    def check(self):
        again = self.run("migrate", "run")
        if again.returncode:
            self.violate("migrate again", again.stderr)
        for domain, count in ("left", 0), ("right", VALUES):
            exported = json.loads(self.run("export", domain).stdout or "{}").get("$addresses", {})
            expected = {f"{domain}/k.{number}": {"$text": f"value {number}"} for number in range(count)}
            if exported != expected:
                self.violate(domain, "has", len(exported), "of", count)
        if "!!" in (report := self.run("doctor").stdout):
            self.violate("doctor", report[report.index("!!") :])


for number in range(ROUNDS):
    game = Round(number)
    game.play()
    for violation in game.violations:
        print(violation)
    shutil.rmtree(game.home)
print(f"{ROUNDS} rounds")
