"""Run with pytest; ld-host has to be on the PATH. Passwords go to the keychain of the HOME and XDG variables in use."""

import concurrent.futures
import os
import shutil
import subprocess

import keyring.errors
import pytest
from keyring.testing.backend import BackendBasicTests

import localdata_keyring
from localdata_keyring import Host, HostError, HostGone, LocalDataKeyring


@pytest.fixture
def backend():
    return LocalDataKeyring()


@pytest.fixture
def host():
    host = Host("ld-host")
    yield host
    host.close()


class TestAsKeyringTestsBackends(BackendBasicTests):
    def init_keyring(self):
        return LocalDataKeyring()


@pytest.mark.parametrize("name", ["", "%", "%%", "%41", "-dash", "a/b:c", "\n", "\x7f\u2028", "ü" * 512])
def test_any_name_is_one_of_its_own(backend, name):
    for service, username in [("names", name), (name, "names")]:
        backend.set_password(service, username, f"of {name!r}")
    for service, username in [("names", name), (name, "names")]:
        assert backend.get_password(service, username) == f"of {name!r}"
        backend.delete_password(service, username)
        assert backend.get_password(service, username) is None


@pytest.mark.parametrize("password", ["", "-dash", "two\nlines", "nul\0nul", "ü\U0001f511", "x" * (1 << 20)])
def test_any_text_comes_back(backend, password):
    backend.set_password("texts", "user", password)
    assert backend.get_password("texts", "user") == password


def test_ld_host_reads_what_was_stored(backend):
    backend.set_password("shared service", "user", "s3cret")
    output = subprocess.check_output(["ld-host", "get", "keychain:shared service/user"])
    assert output == b"s3cret"


def test_what_ld_host_stored_is_read(backend):
    subprocess.run(["ld-host", "set", "keychain:other/user", "--stdin"], input=b"pass", check=True)
    assert backend.get_password("other", "user") == "pass"
    assert backend.get_credential("other", None).username == "user"


def test_bytes_that_are_no_text_are_an_error(backend):
    subprocess.run(["ld-host", "set", "keychain:bytes/user", "--stdin"], input=b"\xff", check=True)
    with pytest.raises(keyring.errors.KeyringError, match="not text"):
        backend.get_password("bytes", "user")


def test_a_name_that_is_too_long_is_an_error_of_keyring(backend):
    with pytest.raises(keyring.errors.PasswordSetError, match="1024"):
        backend.set_password("long", "x" * 1025, "secret")


def test_threads_share_the_process(backend):
    def round_trip(number):
        backend.set_password("threads", f"user{number}", f"password{number}")
        return backend.get_password("threads", f"user{number}")

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert list(pool.map(round_trip, range(200))) == [f"password{number}" for number in range(200)]


def test_a_process_that_ended_is_replaced(backend):
    backend.set_password("restart", "user", "kept")
    process = localdata_keyring._hosts["ld-host"]._process
    process.kill()
    process.wait()
    assert backend.get_password("restart", "user") == "kept"


def test_a_child_process_has_one_of_its_own(backend):
    backend.set_password("fork", "user", "parent")
    child = os.fork()
    if child == 0:
        try:
            backend.set_password("fork", "user", backend.get_password("fork", "user") + " and child")
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert backend.get_password("fork", "user") == "parent and child"


def test_a_program_that_is_missing_is_an_error(backend):
    missing = backend.with_properties(program="/nonexistent/ld-host")
    with pytest.raises(keyring.errors.KeyringError, match="cannot be started"):
        missing.get_password("any", "user")


def test_without_ld_host_the_backend_is_not_viable(monkeypatch):
    assert LocalDataKeyring.viable
    monkeypatch.setattr(shutil, "which", lambda program: None)
    assert not LocalDataKeyring.viable


def test_requests_of_one_client_are_in_flight_together(host):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(host.call, "version") for _ in range(100)]
        assert all(call.result().header["protocol"] == 1 for call in calls)


def test_errors_have_the_names_of_their_codes(host):
    for members, code in [
        ({"domain": "keychain", "scope": "s", "name": "missing"}, "notFound"),
        ({"domain": "no domain", "name": "x"}, "invalidAddress"),
        ({"domain": "keychain", "scope": "s"}, "invalidRequest"),
    ]:
        with pytest.raises(HostError) as raised:
            host.call("get", **members)
        assert raised.value.code == code


def test_a_closed_host_says_so():
    host = Host("ld-host")
    host.close()
    with pytest.raises(HostGone):
        host.call("version")
