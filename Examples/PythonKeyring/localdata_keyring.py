"""A backend for Python's keyring that keeps passwords where LocalData keeps the keychain.

It uses one ``ld-host pipe`` for as long as the program runs. A service in keyring is a service in the keychain, and a
username is a name in it. So ``ld-host get keychain:SERVICE/USER`` prints a password that Python stored, and the other
way round. LocalData has no empty names, so an empty name, or one with only ``%`` characters, is stored with one more
``%``.
"""

import itertools
import json
import os
import shutil
import struct
import subprocess
import threading
from collections import namedtuple

from keyring import backend, credentials, errors

Reply = namedtuple("Reply", "header value")


class HostError(Exception):
    """A failure that ld-host reports; the code is the name of a ``StorageError.Code``."""

    def __init__(self, code, message, hint=""):
        super().__init__(f"{message} ({hint})" if hint else message)
        self.code = code


class HostGone(Exception):
    """The process ended, or cannot be started: whether the last request took effect is unknown."""


class Host:
    """One ``ld-host pipe``. Threads share it, so several requests can be in flight at once."""

    def __init__(self, program):
        try:
            self._process = subprocess.Popen(
                [program, "pipe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            raise HostGone(f"{program} cannot be started: {error.strerror}") from error
        self._ids = itertools.count(1)
        self._sending = threading.Lock()
        self._state = threading.Lock()
        self._waiting = {}
        self._end = None
        threading.Thread(target=self._read, name="ld-host pipe", daemon=True).start()

    def call(self, op, value=b"", **members):
        """Sends a request and waits for its answer."""
        number = next(self._ids)
        header = json.dumps(dict(members, id=number, op=op)).encode()
        answer = _Answer()
        with self._state:
            if self._end:
                raise HostGone(self._end)
            self._waiting[number] = answer
        try:
            with self._sending:
                self._process.stdin.write(
                    struct.pack(">II", 4 + len(header) + len(value), len(header))
                    + header
                    + value
                )
                self._process.stdin.flush()
        except (OSError, ValueError):
            # The reading thread sees the end too, and ld-host's last message.
            pass
        return answer.get()

    def close(self):
        """Ends the process once all requests have been answered."""
        with self._sending:
            try:
                self._process.stdin.close()
            except OSError:
                pass
        self._process.wait()

    def _read(self):
        end = "ld-host ended"
        while True:
            try:
                size, header_size = struct.unpack(">II", self._exactly(8))
                header = json.loads(self._exactly(header_size))
                value = self._exactly(size - 4 - header_size)
            except (EOFError, OSError, ValueError, struct.error):
                break
            if header.get("id") is None:
                end = header.get("error", {}).get("message", end)
                break
            with self._state:
                answer = self._waiting.pop(header["id"], None)
            if answer:
                answer.set(Reply(header, value))
        with self._state:
            self._end = end
            left, self._waiting = self._waiting, {}
        for answer in left.values():
            answer.set(HostGone(end))
        self._process.stdout.close()
        self._process.wait()

    def _exactly(self, count):
        data = self._process.stdout.read(count)
        if len(data) < count:
            raise EOFError
        return data


class _Answer:
    def __init__(self):
        self._is_there = threading.Event()
        self._content = None

    def set(self, content):
        self._content = content
        self._is_there.set()

    def get(self):
        self._is_there.wait()
        if isinstance(self._content, HostGone):
            raise self._content
        error = self._content.header.get("error")
        if error:
            raise HostError(error["code"], error["message"], error.get("hint", ""))
        return self._content


_hosts = {}
_hosts_lock = threading.Lock()


def _after_fork():
    # The parent's process and threads do not belong to the child.
    global _hosts_lock
    _hosts.clear()
    _hosts_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def _host(program, instead_of=None):
    with _hosts_lock:
        host = _hosts.get(program)
        if host is None or host is instead_of:
            host = _hosts[program] = Host(program)
        return host


class _Priority:
    def __get__(self, instance, owner):
        if shutil.which(owner.program) is None:
            raise RuntimeError(f"{owner.program} is not on the PATH")
        return 4.8


class LocalDataKeyring(backend.KeyringBackend):
    """Keyring's passwords in LocalData's keychain. ``KEYRING_PROPERTY_PROGRAM`` names another ld-host."""

    program = "ld-host"
    priority = _Priority()

    def get_password(self, service, username):
        try:
            reply = self._call("get", _place(service, username))
        except HostError as error:
            if error.code == "notFound":
                return None
            raise _failure(error) from error
        return _text(reply.value, service, username)

    def set_password(self, service, username, password):
        try:
            self._call("set", {**_place(service, username), "form": "text"}, password.encode())
        except HostError as error:
            raise _failure(error, errors.PasswordSetError) from error

    def delete_password(self, service, username):
        try:
            removed = self._call("remove", _place(service, username), again=False)
        except HostError as error:
            raise _failure(error, errors.PasswordDeleteError) from error
        if not removed.header["removed"]:
            raise errors.PasswordDeleteError(f"nothing is stored for {username!r} in {service!r}")

    def get_credential(self, service, username):
        """Without a user name, returns the credential whose name is first in byte order."""
        if username is None:
            try:
                names = self._call("list", {"domain": "keychain", "scope": _stored(service), "limit": 1})
            except HostError as error:
                raise _failure(error) from error
            if not names.header["names"]:
                return None
            username = _read(names.header["names"][0])
        password = self.get_password(service, username)
        return None if password is None else credentials.SimpleCredential(username, password)

    def _call(self, op, members, value=b"", again=True):
        host = None
        try:
            host = _host(self.program)
            return host.call(op, value, **members)
        except HostGone as gone:
            if not again or host is None:
                raise errors.KeyringError(str(gone)) from gone
        # The process may have ended since the last call. If the next one ends too, the request fails.
        try:
            return _host(self.program, instead_of=host).call(op, value, **members)
        except HostGone as gone:
            raise errors.KeyringError(str(gone)) from gone


def _place(service, username):
    return {"domain": "keychain", "scope": _stored(service), "name": _stored(username)}


def _stored(name):
    return name if name.strip("%") else name + "%"


def _read(name):
    return name if name.strip("%") else name[:-1]


def _text(value, service, username):
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise errors.KeyringError(
            f"what is stored for {username!r} in {service!r} is not text"
        ) from None


def _failure(error, kind=errors.KeyringError):
    return kind(str(error))
