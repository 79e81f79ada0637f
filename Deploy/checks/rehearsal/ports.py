"""Free ports, waiting for conditions, and small requests over HTTP."""
import random
import socket
import time
import urllib.error
import urllib.request


def free_port(address="127.0.0.1"):
    """Below the ports that Linux gives to connections (32768 and up): one of those is taken again until a service binds it."""
    while True:
        with socket.socket() as one:
            port = random.randrange(15_000, 32_768)
            try:
                one.bind((address, port))
                return port
            except OSError:
                continue


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
