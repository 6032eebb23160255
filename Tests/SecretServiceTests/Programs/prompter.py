"""Answers gnome-keyring's questions in a person's place: GCR's own prompter for tests, in a program.

usage: prompter.py WORD...    one word a question: cancel, or ok:PASSWORD. Prints the name of the prompter on the bus.
"""
import ctypes
import sys

from jeepney import message_bus
from jeepney.io.blocking import open_dbus_connection

library = ctypes.CDLL("libgcr-base-3.so.1")
library.gcr_mock_prompter_start.restype = ctypes.c_char_p
name = library.gcr_mock_prompter_start().decode()
for word in sys.argv[1:]:
    if word == "cancel":
        library.gcr_mock_prompter_expect_password_cancel()
    else:
        password = ctypes.c_char_p(word.removeprefix("ok:").encode())
        library.gcr_mock_prompter_expect_password_ok(password, ctypes.c_void_p(None))
# A program that looks for a prompter finds this one, as on a desktop.
bus = open_dbus_connection(bus="SESSION")
bus.send_and_get_reply(message_bus.RequestName("org.gnome.keyring.SystemPrompter"))
print(name, flush=True)
sys.stdin.read()
