"""Records that no run has made: as many as a test needs, each possible, from the record of the reference dumps."""
import copy
import json
import math
import random
import statistics

from lab import SOURCE

REFERENCE = SOURCE / "dumps" / "reference" / "PoCL-x86" / "pitch_short8" / "timing.json"
GPU = {"platform": "NVIDIA CUDA", "name": "NVIDIA H200", "vendor": "NVIDIA Corporation", "driver": "580", "type": "gpu", "selector": "0:0",
       "identity": "UUID 1", "last_level_bytes": 0, "last_level_from": ""}
CPU = {"platform": "Portable Computing Language", "name": "cpu-Some Processor", "vendor": "GenuineIntel", "driver": "3.1", "type": "cpu",
       "selector": "1:0", "identity": "",
       "last_level_bytes": 0, "last_level_from": ""}


def timing(samples, **more):
    """The `time` of a record with these samples: order statistics, and the binomial interval of the median."""
    ordered = sorted(samples)
    n, median = len(ordered), statistics.median(ordered)
    half = 0.98 * math.sqrt(n)
    low, high = ordered[max(0, math.floor(n / 2 - half) - 1)], ordered[min(n - 1, math.ceil(n / 2 + half))]
    return {"unit": "s", "median": median, "low": min(low, median), "high": max(high, median), "min": ordered[0], "q1": min(ordered[n // 4], median),
            "q3": max(ordered[3 * n // 4], median), "mad": statistics.median(abs(s - median) for s in ordered), "n": n, "per_sample": 1,
            "stop_reason": "precise", "clock": "event", "cache": "hot", "sets": 1, "batch": 1, "references": 0, "settled": True} | more


class Maker:
    def __init__(self, seed=1):
        self.random = random.Random(seed)
        self.reference = json.loads(REFERENCE.read_text())
        self.made = 0

    def record(self, family, variant, seconds, *, device=CPU, point=(), samples=20, second_mode=None, **more):
        """`seconds`: where the samples lie, with 1 % of spread; `second_mode`: and half of them that many times as far."""
        self.made += 1
        drawn = [seconds * (1 + 0.01 * self.random.gauss(0, 1)) * (second_mode if second_mode and i % 2 else 1) for i in range(samples)]
        out = copy.deepcopy(self.reference)
        out |= {"schema": 2, "id": f"{family}_{variant}", "family": family, "variant": variant, "point": dict(point), "status": "ok", "reason": "",
                "device": dict(device), "metrics": {}, "time": timing(drawn), "samples": drawn, "warnings": [], "dump": "",
                "run": {"id": f"{1 + self.made // 1000:032x}", "label": "", "seed": 1, "order": {"comparison": 0, "position": self.made, "prepared": 0},
                        "driver_caches": {}}}
        out.pop("yardstick", None)
        out.pop("aside", None)
        out["metrics"]["bandwidth"] = {"value": 1e6 / out["time"]["median"], "unit": "B/s", "better": "higher"}
        return out | more


def write(path, records):
    with path.open("w") as out:
        for record in records:
            out.write(json.dumps(record, separators=(",", ":")) + "\n")
