"""Handles items like other programs: with Python's keyring, or with secretstorage.

usage: clients.py keyring get|set|delete SERVICE USERNAME    a password to set is standard input
       clients.py storage get|set|delete SERVICE USERNAME    a secret to set is standard input
       clients.py storage items SERVICE USERNAME             label and attributes of each, as JSON lines
       clients.py storage lock                               locks the default collection
       clients.py storage default LABEL                      makes another collection the default one
"""
import json
import sys

import keyring.backends.SecretService
import secretstorage
import secretstorage.util

library, action, *names = sys.argv[1:]
attributes = dict(zip(("service", "username"), names))
if library == "keyring":
    ring = keyring.backends.SecretService.Keyring()
    if action == "set":
        ring.set_password(*names, sys.stdin.read())
    elif action == "delete":
        ring.delete_password(*names)
    else:
        sys.stdout.write(ring.get_password(*names))
else:
    collection = secretstorage.get_default_collection(secretstorage.dbus_init())
    if action == "set":
        collection.create_item("made by another", attributes, sys.stdin.buffer.read(), replace=True)
    elif action == "lock":
        collection.lock()
    elif action == "default":
        others = secretstorage.get_all_collections(collection.connection)
        path = next(other.collection_path for other in others if other.get_label() == names[0])
        service = secretstorage.util.DBusAddressWrapper(
            "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", collection.connection)
        service.call("SetAlias", "so", "default", path)
    else:
        for item in collection.search_items(attributes):
            if action == "get":
                sys.stdout.buffer.write(item.get_secret())
            elif action == "delete":
                item.delete()
            else:
                print(json.dumps({"label": item.get_label(), **item.get_attributes()}))
