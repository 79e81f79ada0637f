"""Free ports, waiting for conditions, and small requests over HTTP."""
import fcntl
import os
import pathlib
import random
import socket
import tempfile
import time
import urllib.error
import urllib.request


FIRST, END = 15_000, 32_768


def free_port(address="127.0.0.1"):
    """Below the ports that Linux gives to connections (32768 and up): one of those is taken again until a service binds it. One after
    the other, counted in a file of this user's: a port is not given twice before its service listens, by another process neither."""
    last = os.open(pathlib.Path(tempfile.gettempdir(), f"storekeeper-last-port-{os.getuid()}"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with open(last, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        port = int(file.read() or random.randrange(FIRST, END))
        while True:
            port = port + 1 if port + 1 < END else FIRST
            with socket.socket() as one:
                try:
                    one.bind((address, port))
                except OSError:
                    continue
            file.seek(0)
            file.truncate()
            file.write(str(port))
            return port


def is_open(port):
    """Whether a process listens on it."""
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0


class Unmet(Exception):
    """A condition did not come true in time."""


def wait_until(what, seconds, condition, interval=0.2):
    """Returns the first true value of `condition`, or raises `Unmet`."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Unmet(f"{what}, within {seconds} s")
        time.sleep(interval)


def get(url, timeout=3, body=None, method=None):
    """Status and text of an answer; (None, reason) where none came."""
    try:
        request = urllib.request.Request(url, data=body, method=method)
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except (OSError, ValueError) as error:
        return None, str(error)
