"""Does what docker-py's credential store does through a helper; ends with 0 if all of it works."""

import docker.credentials
import docker.errors

store = docker.credentials.Store("localdata")
servers = {
    "https://index.docker.io/v1/": ("ann", "s3cret"),
    "registry.example:5000": ("<token>", "eyJ&<>\"\\\u2028"),
    "https://ü.example/a b%41?x=1#y": ("a:b%", "-dash\nline\ttab\0nul"),
    "-dash": ("💾", ""),
    "x" * 1024: ("u" * 2000, "s" * 100_000),
}


def missing(server):
    try:
        store.get(server)
    except docker.credentials.errors.CredentialsNotFound:
        return True
    return False


assert store.list() == {}
for server, (user, secret) in servers.items():
    assert missing(server), server
    store.store(server, user, secret)
    assert store.get(server) == {"ServerURL": server, "Username": user, "Secret": secret}, server
assert store.list() == {server: user for server, (user, _) in servers.items()}

store.store("-dash", "other", "newer")
assert store.get("-dash") == {"ServerURL": "-dash", "Username": "other", "Secret": "newer"}
for server in servers:
    store.erase(server)
    assert missing(server), server
    store.erase(server)
assert store.list() == {}

for server, user in [("", "ann"), ("server", ""), ("x" * 1025, "ann")]:
    try:
        store.store(server, user, "hunter2")
    except docker.credentials.errors.StoreError as error:
        assert "hunter2" not in str(error)
        assert server != "" or "no credentials server URL" in str(error)
        assert user != "" or "no credentials username" in str(error)
    else:
        raise AssertionError(f"{server!r} {user!r} was stored")
assert store.list() == {}
