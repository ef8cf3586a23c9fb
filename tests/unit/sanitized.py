"""Runs the unit tests of a sanitized build, and once more where LeakSanitizer itself failed.

    sanitized.py PROGRAM ARGUMENTS…

When every test has passed, LeakSanitizer stops the process and looks through its memory from another one. Seldom that one crashes
("Tracer caught signal 11"), which says nothing of the program: for this message alone the tests are run again, twice at most. What a
sanitizer or a test says of the program fails at once.
"""
import subprocess
import sys

OWN_FAILURE = "LeakSanitizer has encountered a fatal error"


def run():
    """The exit status, and whether LeakSanitizer failed behind tests that had all passed."""
    done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    sys.stdout.write(done.stdout)
    sys.stdout.flush()
    other = [line for line in done.stdout.splitlines() if "ERROR: " in line or "runtime error: " in line]
    return done.returncode, OWN_FAILURE in done.stdout and " has passed with:" in done.stdout and not other


for _ in range(3):
    status, failed_itself = run()
    if not failed_itself:
        break
    print("sanitized.py: LeakSanitizer failed, not the program; once more", flush=True)
sys.exit(status != 0)
