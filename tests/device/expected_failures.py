"""Cells that are known to fail on an implementation, and why: a lane fails for any other failure, for an expected one that
passes, and for an entry that fits no cell it ran.

An entry holds for the drivers of a platform whose version begins with `driver`. `cells` is a shell glob over a cell's text,
e.g. "atomic_global counters=4"; `gone` is the command whose success shows that the entry can go.
"""
import fnmatch

EXPECTED = [
    {"platform": "rusticl", "driver": "22.3", "cells": "atomic_global *", "status": "wrong_result",
     "why": "llvmpipe ends a loop after 65535 iterations and says nothing; the kernel adds in 65536 (quirk llvmpipe-loop-65535)",
     "gone": "cllab run atomic_global --verify -d llvmpipe"},
    {"platform": "rusticl", "driver": "22.3", "cells": "fma_units *", "status": "wrong_result",
     "why": "the same: its longer run has 98304 trips",
     "gone": "cllab run fma_units --verify -d llvmpipe --axis unroll=4 --axis load=100"},
]


def text_of(record):
    return " ".join([record["id"], *(f"{axis}={value}" for axis, value in record["point"].items())])


def fits(entry, record):
    device = record["device"]
    return (device["platform"] == entry["platform"] and device["driver"].startswith(entry["driver"])
            and fnmatch.fnmatchcase(text_of(record), entry["cells"]))


def complaints(records, expected=None):
    """What is wrong with the records of a whole lane, a sentence each; [] when all is as expected."""
    expected = EXPECTED if expected is None else expected
    out = []
    for record in records:
        entry = next((e for e in expected if fits(e, record)), None)
        # A probe may need what a device lacks; it says so in its reason.
        allowed = [entry["status"]] if entry else ["ok", "unsupported"]
        if record["status"] not in allowed:
            out.append(f"{text_of(record)} is {record['status']}, expected {' or '.join(allowed)}: {record['reason']}")
        elif record["status"] != "ok" and not record["reason"]:
            out.append(f"{text_of(record)} is {record['status']} without a reason")
    for device in {(r["device"]["platform"], r["device"]["driver"]) for r in records}:
        for entry in expected:
            here = device[0] == entry["platform"] and device[1].startswith(entry["driver"])
            if here and not any(fits(entry, record) for record in records):
                out.append(f"the expected failure {entry['cells']} of {entry['platform']} fits no cell of this lane")
    return out
