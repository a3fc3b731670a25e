# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Kills servers, their clients and whoever writes to a shared folder at any moment, and looks at what that leaves: kill-remotes.py

The current folder has one.mlir and two.mlir, in wanted/ what each is compiled to, and settings with a key that is trusted. TENON_KILLS says
how many are killed: 6 by default.
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

MODELS = ["one.mlir", "two.mlir"]
PATIENCE = 120


def start(*command, cache):
    # Standard error of those that are killed may end anywhere: only what is left in files counts.
    return subprocess.Popen(
        ["tenon", *command],
        env={**os.environ, "TENON_CACHE_DIR": cache},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def compile_model(model, output, cache, *options):
    return start("compile", model, "-o", output, "--target", "x86-64-v3", *options, cache=cache)


def serve():
    server = start("cache", "serve", "--port", "0", "--no-token", cache="builder")
    line = server.stdout.readline()
    if " at http" not in line:
        sys.exit(f"the server said {line!r}")
    return server, line.split(" at ")[1].strip()


def kill(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(PATIENCE)


def check(output, model, what):
    if output.exists() and output.read_bytes() != pathlib.Path("wanted", f"{model}.tenon").read_bytes():
        sys.exit(f"{what} left another artifact than {model} has")


def finish(process, what):
    said, _ = process.communicate(timeout=PATIENCE)
    if process.returncode or "tenon: warning" in said or "tenon: error" in said:
        sys.exit(f"{what} ended with {process.returncode}: {said}")
    return said


def round_of(number, chance):
    server, url = serve()
    model = chance.choice(MODELS)
    if chance.random() < 0.5:
        shutil.rmtree("user", ignore_errors=True)
    outputs = [pathlib.Path(f"user-{number}.tenon"), pathlib.Path(f"builder-{number}.tenon")]
    client = compile_model(model, str(outputs[0]), "user", "--cache-from", url)
    if chance.random() < 0.3:
        shutil.rmtree("builder", ignore_errors=True)
    builder = compile_model(model, str(outputs[1]), "builder", "--cache-to", "shared", "--cache-from", "shared")
    victims = [server, client, builder]
    chance.shuffle(victims)
    for victim in victims[: chance.randint(1, 3)]:
        time.sleep(chance.uniform(0, 0.4))
        kill(victim)
    for process in (client, builder):
        process.wait(PATIENCE)
    kill(server)
    for output in outputs:
        check(output, model, f"round {number}")


def main():
    chance = random.Random(20261126)
    pathlib.Path("shared").mkdir()
    for model in MODELS:
        finish(compile_model(model, "x.tenon", "builder", "--cache-to", "shared"), f"compiling {model}")
    for number in range(int(os.environ.get("TENON_KILLS", "6"))):
        round_of(number, chance)
    for cache in ("user", "builder"):
        faults = subprocess.run(
            ["tenon", "cache", "verify"], env={**os.environ, "TENON_CACHE_DIR": cache}, capture_output=True, text=True, check=False
        ).stderr.splitlines()
        if any(not fault.endswith("its content is gone") for fault in faults):
            sys.exit("\n".join(faults))
    # Everything that has its last name in the folder is whole, and the server has all that was compiled.
    for model in MODELS:
        finish(compile_model(model, "x.tenon", "builder", "--cache-to", "shared", "--llc", "65M"), f"compiling {model}")
        finish(compile_model(model, "x.tenon", "builder"), f"compiling {model}")
    server, url = serve()
    for source in ("shared", url):
        shutil.rmtree("user", ignore_errors=True)
        for model in MODELS:
            output = pathlib.Path("last.tenon")
            said = finish(compile_model(model, str(output), "user", "--cache-from", source), f"taking {model} from {source}")
            check(output, model, f"taking {model} from {source}")
            if source == "shared" and "from the cache" not in said:
                sys.exit(f"{model} is not in the folder: {said}")
    server.send_signal(signal.SIGINT)
    server.communicate(timeout=PATIENCE)
    if server.returncode:
        sys.exit(f"the server ended with {server.returncode}")


main()
