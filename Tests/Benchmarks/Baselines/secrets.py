"""Does with Python's keyring what secrets.c does with libsecret, and lists with secretstorage, keyring's own base.

usage: secrets.py COLLECTION    default or session; reads and answers the lines that secrets.c does
"""
import sys
import time

import keyring.backends.SecretService
import secretstorage

ring = keyring.backends.SecretService.Keyring()
bus = secretstorage.dbus_init()
paths = {"default": "/org/freedesktop/secrets/aliases/default", "session": "/org/freedesktop/secrets/collection/session"}
collection = secretstorage.Collection(bus, paths[sys.argv[1]])


def act(action, size):
    name = f"value-{size}"
    if action == "set":
        ring.set_password("python", name, "x" * size)
    elif action == "get":
        assert len(ring.get_password("python", name)) == size
    else:
        names = [item.get_attributes()["username"] for item in collection.search_items({"service": "raw-list"})]
        assert len(names) == size


for line in sys.stdin:
    action, size, count = line.split()
    start = time.monotonic_ns()
    for _ in range(int(count)):
        act(action, int(size))
    print((time.monotonic_ns() - start) / int(count), flush=True)
