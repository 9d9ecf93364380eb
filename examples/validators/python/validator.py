"""An external validator, protocol version 1: python3 validator.py SOCKET"""

import json
import os
import re
import signal
import socketserver
import struct
import sys

VERSION = 1
MAX_BODY_BYTES = 8 * 1024 * 1024
IDLE_SECONDS = 60  # the controller closes idle connections after 30 s
REQUEST_SECONDS = int(os.environ.get("REQUEST_MS", "10000")) / 1000

# What this validator is about: replace it by your own.
RULES = [
    ("errors", re.compile(r"\bverify none\b"), "a server's certificate has to be verified"),
    ("warnings", re.compile(r"\bhttp-reuse always\b"), "idle connections are shared between clients"),
]


def judge(files):
    """Positions count from 1. Data rides along to be looked things up in; it is not judged."""
    found = {"errors": [], "warnings": []}
    for file in files:
        if file.get("kind") == "data":
            continue
        for number, text in enumerate(file["content"].split("\n"), start=1):
            for severity, pattern, message in RULES:
                match = pattern.search(text)
                if match:
                    place = {"path": file["path"], "line": number, "column": match.start() + 1}
                    found[severity].append({**place, "message": message})
    return found


def answer(errors, warnings):
    """The result must equal what the lists say."""
    result = "error" if errors else "warning" if warnings else "valid"
    return {"protocol_version": VERSION, "result": result, "warnings": warnings, "errors": errors}


def protocol_error(message):
    """About the request and not about a file, so its path is empty; 0 means unknown."""
    return answer([{"path": "", "line": 0, "column": 0, "message": message}], [])


def answer_to(body):
    try:
        request = json.loads(body.decode("utf-8"))
    except ValueError as error:
        return protocol_error(f"the body is not JSON in UTF-8: {error}")
    if not isinstance(request, dict):
        return protocol_error("the body is not an object")
    version = request.get("protocol_version")
    if version != VERSION:
        return protocol_error(f"protocol version {version} is not supported, the highest is {VERSION}")
    files = request.get("files")
    if not isinstance(files, list) or not files:
        return protocol_error('"files" is missing or empty')
    if not all(is_file(file) for file in files):
        return protocol_error('each of "files" needs "path" and "content"')
    return answer(**judge(files))


def is_file(file):
    """Fields that are not known are ignored."""
    return isinstance(file, dict) and all(isinstance(file.get(key), str) for key in ("path", "content"))


class Connection(socketserver.BaseRequestHandler):
    """Answers every request that arrives on a connection, until one side closes it."""

    def handle(self):
        try:
            while self.answer_one():
                pass
        except OSError:
            pass  # the controller went away

    def answer_one(self):
        self.request.settimeout(IDLE_SECONDS)
        try:
            start = self.request.recv(1)
        except TimeoutError:
            return False
        if not start:
            return False
        self.request.settimeout(REQUEST_SECONDS)
        try:
            (length,) = struct.unpack(">I", start + self.read(3))
            if length > MAX_BODY_BYTES:
                self.send(protocol_error(f"a frame may have at most {MAX_BODY_BYTES} bytes, not {length}"))
                return False
            body = self.read(length)
        except TimeoutError:
            self.send(protocol_error("the request did not arrive in time"))
            return False
        self.send(answer_to(body))
        return True

    def read(self, count):
        received = bytearray()
        while len(received) < count:
            piece = self.request.recv(count - len(received))
            if not piece:
                raise ConnectionError("the connection was closed in the middle of a request")
            received += piece
        return bytes(received)

    def send(self, message):
        body = json.dumps(message).encode("utf-8")
        self.request.sendall(struct.pack(">I", len(body)) + body)


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 validator.py SOCKET")
    path = sys.argv[1]
    if os.path.exists(path):
        os.unlink(path)  # left by a run that was killed
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    with Server(path, Connection) as server:
        os.chmod(path, 0o660)  # for the group that the pod's containers share
        print(f"judging at {path}", flush=True)
        try:
            server.serve_forever()
        finally:
            os.unlink(path)


if __name__ == "__main__":
    main()
