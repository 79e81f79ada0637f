"""What a rehearsal needs of the machine."""
import os
import shutil
import signal
import sys

PACKAGES = {"kcat": "kcat", "pgbouncer": "pgbouncer", "psql": "postgresql-client", "setpriv": "util-linux", "java": "default-jre-headless"}


def programs(*names):
    missing = [PACKAGES[name] for name in names if not shutil.which(name)]
    if missing:
        print(f"Some programs are missing. As root: apt-get install -y --no-install-recommends {' '.join(missing)}",
              file=sys.stderr)
        sys.exit(69)
    # Ends the context managers, and with them all processes.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))


def own_mounts():
    """As root, mounts of this process are its own: the disk that is to be full vanishes with it."""
    if os.geteuid() == 0 and os.environ.get("REHEARSAL_MOUNTS") is None and shutil.which("unshare"):
        os.environ["REHEARSAL_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "--mount", "--", sys.executable, *sys.argv])
