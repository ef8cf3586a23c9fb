#!/usr/bin/env python3
"""Writes the records of `cllab run --json` in the formats of other programs. Needs only Python.

    cllab_export.py t4 r.jsonl > results.json
    cllab_export.py github-action-benchmark node1.jsonl node2.jsonl > medians.json

  t4                       the T4 format of auto-tuning results, version 1.0.0, as Kernel Tuner reads and writes it
  google-benchmark         the JSON of google/benchmark: one repetition per sample, then their aggregates
  github-action-benchmark  medians in ns for github-action-benchmark, as its tool `customSmallerIsBetter`
  bencher                  medians in ns for bencher.dev: `bencher run --adapter json --file medians.json`

Lines that are not records are named on stderr and skipped. Without any record, the exit status is 2.
"""

import argparse
import json
import math
import os
import statistics
import sys

INVALIDITY = {"ok": "correct", "build_failed": "compile", "launch_failed": "runtime", "timed_out": "timeout",
              "wrong_result": "correctness", "disagree": "correctness", "unsupported": "constraints"}


def read(paths):
    """The records of JSON lines files, each once. Lines of comparisons and explanations are not records."""
    records, seen = [], set()
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip() or line in seen:
                    continue
                seen.add(line)
                try:
                    record = json.loads(line)
                    if "record" in record:
                        continue
                    if record["schema"] not in (1, 2):
                        raise ValueError(f"it has schema {record['schema']}; schemas 1 and 2 are read")
                    if record["status"] not in INVALIDITY or not isinstance(record["point"], dict) or not isinstance(record["device"], dict):
                        raise ValueError("its status, point or device is not one of a record")
                    records.append(record)
                except (ValueError, TypeError, KeyError) as fault:
                    print(f"cllab_export: {path}:{number}: this is not a record ({fault}); the line is skipped", file=sys.stderr)
    return records


def host_of(record):
    return record.get("host", {}).get("name", "")


def device_key(record):
    """Identifies a device. A GPU's UUID is unique; a CPU's is often the same on all machines of a kind, so the host is added."""
    device = record["device"]
    identity = device.get("identity", "")
    key = [device.get("platform"), device.get("name"), device.get("driver"), identity]
    if not (device.get("type") == "gpu" and identity.startswith("UUID ")):
        key.append(host_of(record))
    return (*key, "" if identity else device.get("selector", "").rpartition(":")[2])


def device_labels(records):
    """A label per device if there are several devices, else nothing."""
    hosts = len({host_of(r) for r in records}) > 1
    labels = {}
    for r in records:
        device = r["device"]
        labels.setdefault(device_key(r), f"{device.get('name', '')} ({device.get('selector', '')}), {device.get('platform', '')}, "
                          f"driver {device.get('driver', '')}" + (f" on {host_of(r)}" if hosts else ""))
    return labels if len(labels) > 1 else {}


def benchmark_name(record, labels):
    """"saxpy_w128/size:1024", with the cache state and the device if needed to distinguish two times."""
    name = record["id"] + "".join(f"/{axis}:{value}" for axis, value in record["point"].items())
    cache = record.get("time", {}).get("cache", "hot")
    label = labels.get(device_key(record))
    return name + (f"/cache:{cache}" if cache != "hot" else "") + (f"/device:{label}" if label else "")


def in_ns(seconds):
    """To twelve digits: 119509 and not 119509.00000000001."""
    return float(f"{seconds * 1e9:.12g}")


def metrics_of(record):
    return {name: metric for name, metric in record.get("metrics", {}).items() if math.isfinite(metric["value"])}


def t4(records):
    labels = device_labels(records)
    results = []
    for r in records:
        phases = r.get("phases", {})
        spent = {name: 1e3 * sum(phases.get(phase, 0) for phase in parts) for name, parts in
                 (("benchmark", ["sampling"]), ("validation", ["verify", "download", "host_reference"]), ("build", ["build"]))}
        compilation = 1e3 * r.get("build", {}).get("seconds", 0)
        configuration = {"kernel": r["id"]}
        if device_key(r) in labels:
            configuration["device"] = labels[device_key(r)]
        measurements = [{"name": "time", "value": 1e3 * r["time"]["median"], "unit": "ms"}] if "time" in r else []
        measurements += [{"name": name, "value": metric["value"], "unit": metric["unit"]} for name, metric in metrics_of(r).items()]
        # The schema has compilation_time; Kernel Tuner writes and reads compilation and benchmark.
        times = {"compilation_time": compilation, "compilation": compilation, "benchmark": spent["benchmark"],
                 "framework": 1e3 * sum(phases.values()) - sum(spent.values()), "search_algorithm": 0,
                 "validation": spent["validation"], "runtimes": [1e3 * seconds for seconds in r.get("samples", [])]}
        results.append({"timestamp": r.get("utc", ""), "configuration": configuration | r["point"], "times": times,
                        "invalidity": INVALIDITY[r["status"]], "correctness": int(INVALIDITY[r["status"]] != "correctness"),
                        "measurements": measurements, "objectives": ["time"]})
    return {"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}, "results": results}


def aggregates(record):
    """Name, unit and value as google/benchmark computes them; of a record without samples the median alone."""
    samples, median = record.get("samples", []), ("median", "time", record["time"]["median"])
    if not samples:
        return [median]
    mean = statistics.fmean(samples)
    deviation = statistics.stdev(samples) if len(samples) > 1 else 0
    return [("mean", "time", mean), median, ("stddev", "time", deviation), ("cv", "percentage", deviation / mean if mean else 0)]


def reason_of(record):
    """Why a cell has no time."""
    reason = " ".join(record.get("reason", "").split())
    if record["status"] == "ok":
        return {"skipped": True, "skip_message": "verified, not timed"}
    if record["status"] == "unsupported":
        return {"skipped": True, "skip_message": reason}
    return {"error_occurred": True, "error_message": f"{record['status']}: {reason}"}


def google_benchmark(records):
    labels, families, entries = device_labels(records), {}, []
    host = records[0].get("host", {})
    for r in records:
        time, name = r.get("time"), benchmark_name(r, labels)
        index, instance = families.get(r["id"], (len(families), 0))
        families[r["id"]] = index, instance + 1
        common = {"name": name, "family_index": index, "per_family_instance_index": instance, "run_name": name,
                  "run_type": "iteration", "repetitions": time["n"] if time else 0, "threads": 1}

        def put(own, iterations, value):
            # cpu_time is the same as real_time: readers ask for it, and a kernel takes its time on the device.
            entries.append(common | own | {"iterations": iterations, "real_time": value, "cpu_time": value, "time_unit": "ns"})

        if not time:
            put(reason_of(r), 0, 0)
            continue
        for i, seconds in enumerate(r.get("samples", [])):
            put({"repetition_index": i}, time["per_sample"], in_ns(seconds))
        for kind, unit, value in aggregates(r):
            put({"name": f"{name}_{kind}", "run_type": "aggregate", "aggregate_name": kind, "aggregate_unit": unit},
                time["n"], in_ns(value) if unit == "time" else value)
            if kind == "median":  # from which most headline figures are computed; a name that the format has is the format's
                for metric, figure in metrics_of(r).items():
                    entries[-1].setdefault("bytes_per_second" if metric == "bandwidth" else metric, figure["value"])
    context = {"date": records[0].get("utc", ""), "host_name": host.get("name", ""), "executable": "cllab",
               "num_cpus": host.get("threads", 0), "caches": [],
               "cpu_time": "the same as real_time, the kernel's time on the device"}
    return {"context": context, "benchmarks": entries}


def latest_timed(records):
    """(name, record): one per name, the latest, because services keep one figure per name and commit."""
    labels, latest = device_labels(records), {}
    for r in records:
        name = benchmark_name(r, labels)
        if "time" in r and (name not in latest or r.get("utc", "") >= latest[name].get("utc", "")):
            latest[name] = r
    return latest.items()


def has_interval(time):
    return time["n"] >= 6  # below, there is no 95 % interval


def github_action_benchmark(records):
    entries = []
    for name, r in latest_timed(records):
        time = r["time"]
        entry = {"name": name, "unit": "ns", "value": in_ns(time["median"])}
        if has_interval(time):
            entry["range"] = f"± {in_ns(max(time['high'] - time['median'], time['median'] - time['low'])):.4g}"
        entries.append(entry | {"extra": f"{r['device'].get('name', '')}\n{time['n']} samples"})
    return entries


def bencher(records):
    return {name: {"latency": {"value": in_ns(r["time"]["median"])} |
                   ({"lower_value": in_ns(r["time"]["low"]), "upper_value": in_ns(r["time"]["high"])} if has_interval(r["time"]) else {})}
            for name, r in latest_timed(records)}


FORMATS = {"t4": t4, "google-benchmark": google_benchmark, "github-action-benchmark": github_action_benchmark, "bencher": bencher}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT")
    parser.add_argument("files", nargs="+", metavar="FILE")
    asked = parser.parse_args()
    try:
        records = read(asked.files)
    except OSError as fault:
        sys.exit(f"cllab_export: file '{fault.filename}' cannot be read: {fault.strerror}")
    if not records:
        print("cllab_export: no record is in the files", file=sys.stderr)
        sys.exit(2)
    try:
        json.dump(FORMATS[asked.format](records), sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
        print(flush=True)
    except BrokenPipeError:  # `| head` has read enough; Python would report it again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
