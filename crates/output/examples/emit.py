"""A tool with two recipients: the model gets every entry, the person a short list."""

import os
import shlex
import subprocess
import sys


def emit(model: str, user: str, purpose: str = "listing") -> None:
    """Hands both texts over; returns when they are through."""
    first = model.encode()
    command = shlex.split(os.environ.get("SAYSO_EMIT", "sayso emit"))
    # What was printed before comes before.
    sys.stdout.flush()
    subprocess.run(
        [*command, "--purpose", purpose, "--model-bytes", str(len(first))],
        input=first + user.encode(),
        check=True,
    )


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print("raw progress on stdout")
    entries = "".join(f"entry {n}: everything the model may be asked about\n" for n in range(1, count + 1))
    emit(entries, f"{count} entries, newest first")
    # At once, without any cleaning up: nothing is lost.
    os._exit(0)
