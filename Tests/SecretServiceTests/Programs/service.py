"""A secret service with one fault. Prints "ready" when it owns the name, and appends each later request to the file
"asked" in $HOME, as a line with method and path.

usage: service.py FAULT

    mute        answers nothing at all
    silent      agrees on a session, and is silent from then on
    dies        agrees on a session, and ends when an item is looked for, with the call unanswered
    dies-late   the same, when an item is made or changed
    dismissing  is locked, and reports each prompt as dismissed
    waiting     is locked, and never reports the result of a prompt
    vanishing   is locked, and ends during a prompt
    stubborn    is locked, and shows no prompt
    refusing    fails with its own error
    forbidding  fails like a bus that forbids the call
    nonsense    returns secrets that cannot be decrypted
    mistyped    answers with the wrong types
    forgetful   forgets a session after its first use
    overlooking finds an item only when it is asked for the second time
"""
import os
import sys

from jeepney import DBusAddress, HeaderFields, MessageType, message_bus, new_error, new_method_return, new_signal
from jeepney.io.blocking import open_dbus_connection

fault = sys.argv[1]
item = "/org/freedesktop/secrets/collection/login/1"
prompt = "/org/freedesktop/secrets/prompt/p1"
locked = fault in ("dismissing", "waiting", "vanishing", "stubborn")
sessions = 0
searches = 0
spent = set()


def failure(message, name, text="it does not want to"):
    bus.send(new_error(message, name, "s", (text,)))


def forget(message, session):
    """Says whether a session is forgotten, and forgets it."""
    if fault == "forgetful" and session in spent:
        failure(message, "org.freedesktop.Secret.Error.NoSession")
        return True
    spent.add(session)
    return False


def answer(message):
    global sessions, searches
    fields = message.header.fields
    method = fields.get(HeaderFields.member)
    path = fields.get(HeaderFields.path)
    if fault == "mute":
        return None
    if method == "OpenSession" and fault == "sessionless":
        return None
    if method == "OpenSession":
        if message.body[0] != "plain":
            return failure(message, "org.freedesktop.DBus.Error.NotSupported")
        sessions += 1
        return new_method_return(message, "vo", (("s", ""), f"/org/freedesktop/secrets/session/{sessions}"))
    with open(os.path.expanduser("~/asked"), "a") as asked:
        print(method, path, file=asked)
    if fault == "silent":
        return None
    if fault == "dies" and method == "SearchItems" or fault == "dies-late" and method in ("CreateItem", "SetSecret"):
        sys.exit()
    if fault == "refusing":
        return failure(message, "org.example.Error.Refused")
    if fault == "forbidding":
        return failure(message, "org.freedesktop.DBus.Error.AccessDenied")
    if fault == "mistyped":
        return new_method_return(message, "u", (7,))
    if method == "SearchItems" and path == "/org/freedesktop/secrets":
        return new_method_return(message, "aoao", ([], []))
    if method == "SearchItems":
        searches += 1
        isNone = fault == "dies-late" or fault == "overlooking" and searches == 1
        return new_method_return(message, "ao", ([] if isNone else [item],))
    if method == "Get":
        return new_method_return(message, "v", (("b", locked),))
    if method == "GetSecret":
        if locked:
            return failure(message, "org.freedesktop.Secret.Error.IsLocked")
        if forget(message, message.body[0]):
            return None
        secret = (message.body[0], b"", b"value", "text/plain")
        if fault == "nonsense":
            secret = ("/somebody/elses", b"123", b"456", "text/plain")
        return new_method_return(message, "(oayays)", (secret,))
    if method == "ReadAlias":
        return new_method_return(message, "o", ("/org/freedesktop/secrets/collection/login",))
    if method == "Unlock":
        return new_method_return(message, "aoo", ([], "/" if fault == "stubborn" else prompt))
    if method == "Prompt":
        bus.send(new_method_return(message))
        if fault == "vanishing":
            sys.exit()
        if fault == "dismissing":
            completed = DBusAddress(path, interface="org.freedesktop.Secret.Prompt")
            bus.send(new_signal(completed, "Completed", "bv", (True, ("ao", []))))
        return None
    return new_method_return(message)


bus = open_dbus_connection(bus="SESSION")
bus.send_and_get_reply(message_bus.RequestName("org.freedesktop.secrets"))
print("ready", flush=True)
while True:
    received = bus.receive()
    if received.header.message_type == MessageType.method_call:
        reply = answer(received)
        if reply is not None:
            bus.send(reply)
