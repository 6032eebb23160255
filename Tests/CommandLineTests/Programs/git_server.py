"""Serves git repositories over HTTP with basic authentication, on the loopback interface, while a program runs.

usage: git_server.py FOLDER ACCOUNTS PROGRAM [ARGUMENT...]

FOLDER has the repositories; ACCOUNTS is a file with a line USER:PASSWORD for each account, read for every request. The
program gets the address in URL; this one ends with its status.
"""

import base64
import http.server
import os
import subprocess
import sys
import threading

folder, accounts, *program = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def is_allowed(self):
        kind, _, given = self.headers.get("Authorization", "").partition(" ")
        if kind != "Basic":
            return False
        with open(accounts, "rb") as file:
            return base64.b64decode(given) in file.read().split(b"\n")

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.is_allowed():
            return self.answer(401, [("WWW-Authenticate", 'Basic realm="test"')], b"")
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": folder,
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REMOTE_USER": "someone",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        output = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE).stdout
        head, _, content = output.partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        self.answer(status, [header for header in headers if header[0] != "Status"], content)

    do_GET = do_POST = serve


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
sys.exit(subprocess.run(program, env=dict(os.environ, URL=url)).returncode)
