"""Creates a default collection without a password if it is missing, through gnome-keyring's internal interface, and
unlocks it, which needs no prompt."""
import os

from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection

bus = open_dbus_connection(bus="SESSION")
path = "/org/freedesktop/secrets"


def call(interface, method, signature, *arguments):
    address = DBusAddress(path, bus_name="org.freedesktop.secrets", interface=interface)
    return bus.send_and_get_reply(new_method_call(address, method, signature, arguments)).body


service = "org.freedesktop.Secret.Service"
if not os.path.exists(os.path.expanduser("~/.local/share/keyrings/Plain.keyring")):
    session = call(service, "OpenSession", "sv", "plain", ("s", ""))[1]
    collection = call(
        "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "CreateWithMasterPassword", "a{sv}(oayays)",
        {"org.freedesktop.Secret.Collection.Label": ("s", "Plain")}, (session, b"", b"", "text/plain"))[0]
    call(service, "SetAlias", "so", "default", collection)
collection = call(service, "ReadAlias", "s", "default")[0]
unlocked, prompt = call(service, "Unlock", "ao", [collection])
assert unlocked == [collection] and prompt == "/", (unlocked, prompt)
