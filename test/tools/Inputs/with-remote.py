# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs a command beside a remote cache: with-remote.py [KIND...] -- COMMAND...

KIND is `serve` (tenon cache serve, with the arguments in SERVE), `redis`, or a fault of the HTTP server before it, which stands between
server and client. The command finds its URL in REMOTE. What clients asked the last one of them for is in requests.txt, a line each.
"""

import http.client
import http.server
import os
import pathlib
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

PATIENCE = 60


def start_server():
    command = ["tenon", "cache", "serve", "--port", "0", *shlex.split(os.environ.get("SERVE", ""))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    said = process.stdout.readline()
    if " at http" not in said:
        sys.exit(f"tenon cache serve said {said!r}")
    return process, said.split(" at ")[1].strip()


def start_redis():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    for _ in range(PATIENCE * 10):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, f"redis://127.0.0.1:{port}"
        except OSError:
            time.sleep(0.1)
    sys.exit("redis-server does not listen")


class Faulty(http.server.BaseHTTPRequestHandler):
    """Asks the server behind, and passes on what it says with a fault."""

    protocol_version = "HTTP/1.1"
    behind = fault = None
    count = 0
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def fetch(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        connection = http.client.HTTPConnection(self.behind.hostname, self.behind.port, timeout=PATIENCE)
        connection.request(self.command, self.path, body, {k: v for k, v in self.headers.items() if k != "Host"})
        answer = connection.getresponse()
        return answer, answer.read()

    def send(self, answer, body, length=None):
        self.send_response(answer.status)
        for name in ("ETag", "Content-Range", "Accept-Ranges"):
            if answer.getheader(name):
                self.send_header(name, answer.getheader(name))
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        self.close_connection = True

    def answer_request(self):
        with Faulty.lock:
            Faulty.count += 1
            number = Faulty.count
            with open("requests.txt", "a") as log:
                log.write(f"{self.command} {self.path.split('/')[3]} range={self.headers.get('Range', '-')}\n")
        answer, body = self.fetch()
        if self.fault == "busy" and number <= 2:
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.fault == "truncate" and answer.status < 300 and number <= 3:
            self.send(answer, body[: max(len(body) // 2, 1)], len(body))
        elif self.fault == "tamper" and answer.status < 300:
            # The content of the last entry: in a batch, a line of its own ends the answer.
            at = len(body) - 40
            self.send(answer, body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :])
        elif self.fault == "slow":
            time.sleep(float(os.environ.get("DELAY", "0.02")))
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name not in ("Date", "Connection"):
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        elif self.fault == "die":
            self.send(answer, body[: len(body) // 2], len(body))
            if number == 1:
                os.kill(self.victim, signal.SIGKILL)
        else:
            self.send(answer, body)

    do_GET = do_POST = answer_request


def start_fault(fault, behind, process):
    Faulty.fault, Faulty.behind, Faulty.victim = fault, urllib.parse.urlparse(behind), process.pid
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def main(arguments):
    kinds, command = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    pathlib.Path("requests.txt").unlink(missing_ok=True)
    processes, url = [], ""
    try:
        for kind in kinds:
            if kind in ("serve", "redis"):
                process, url = start_server() if kind == "serve" else start_redis()
                processes.append(process)
            else:
                url = start_fault(kind, url, processes[-1])
        status = subprocess.run(command, env={**os.environ, "REMOTE": url}, check=False).returncode
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
            code = process.wait(PATIENCE)
            if code not in (0, -signal.SIGKILL):
                print(f"the server ended with {code}", file=sys.stderr)
                status = 1
    return status


sys.exit(main(sys.argv[1:]))
