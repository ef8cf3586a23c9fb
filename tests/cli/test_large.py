"""Files of many records: what `report` takes of time and memory, as ratios."""
import json
import os
import subprocess

import made
from lab import CLLAB, LabTest, main


class Large(LabTest):
    def write(self, name, count, begin=0):
        """`count` records of 16 variants on two devices with 100 samples each; made from 32 texts, so that it is quick."""
        maker = made.Maker()
        texts = [json.dumps(maker.record("pitch", f"v{i % 16}", (1 + i % 16) * 1e-4, device=made.GPU if i < 16 else made.CPU, point={"width": "WIDTH", "height": 64},
                                         samples=100, utc="TIME"), separators=(",", ":")) for i in range(32)]
        path = self.folder / name
        with path.open("w") as out:
            for i in range(begin, begin + count):
                out.write(texts[i % 32].replace('"WIDTH"', str(64 * (1 + i // 32))).replace("TIME", f"2026-11-21T{i:08}Z") + "\n")
        return path

    def cost(self, *args, out="out.txt"):
        """Processor seconds and the most memory, in bytes, of one run, as the system counted them."""
        with open(self.folder / out, "wb") as stdout:
            process = subprocess.Popen([CLLAB, *map(str, args)], cwd=self.folder, env=self.environment(), stdout=stdout, stderr=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024

    def test_report_time_is_linear_and_memory_below_the_file_size(self):
        few, many = self.write("few.jsonl", 4000), self.write("many.jsonl", 16000)
        (few_seconds, few_bytes), (many_seconds, many_bytes) = (self.cost("report", path) for path in (few, many))
        # Seconds of the processor, of which other work on the machine takes a cache and no more: twice what four times the records take.
        self.assertLess(many_seconds / few_seconds, 8, "four times the records")
        self.assertLess(many_bytes - few_bytes, 1.05 * (many.stat().st_size - few.stat().st_size))

    def test_hot_code_of_records_takes_no_memory_in_a_report(self):
        """The blocks of sampled code are the larger part of a record today, and no table shows them."""
        plain = self.write("plain.jsonl", 4000)
        block = {"function": "f", "begin": 1, "end": 9, "samples": 5, "share": 0.1, "instructions": 4, "classes": {f"class_{i}": i for i in range(8)},
                 "memory": {f"load_{i}": i for i in range(8)}, "loops": [1, 2]}
        hot = json.dumps({"evidence": "sampled", "reason": "", "method": "any", "samples": 60, "in_kernel": 50, "elsewhere": {}, "code": "f", "blocks": [block] * 10, "loops": []},
                         separators=(",", ":"))
        sampled = self.folder / "sampled.jsonl"
        # Line by line: what this process takes is counted with the program's most, as that of who started it.
        with plain.open() as lines, sampled.open("w") as out:
            for line in lines:
                out.write(f'{line.rstrip()[:-1]},"hot":{hot}}}\n')
        (_, without), (_, with_samples) = (self.cost("report", path) for path in (plain, sampled))
        self.assertLess(with_samples, 1.3 * without)


if __name__ == "__main__":
    main()
