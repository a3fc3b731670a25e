# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs a command with a Dask cluster of processes on this machine: dask-cluster.py WORKERS THREADS COMMAND... (gets --scheduler ADDRESS)"""

import subprocess
import sys

from distributed import LocalCluster

if __name__ == "__main__":
    workers, threads, *command = sys.argv[1:]
    with LocalCluster(n_workers=int(workers), threads_per_worker=int(threads), processes=True, dashboard_address=None) as cluster:
        status = subprocess.run([*command, "--scheduler", cluster.scheduler_address], check=False).returncode
    sys.exit(status)
