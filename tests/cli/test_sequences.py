"""Several kernels of a file as one operation: proved, timed and compared as a whole. Each kind has a right sequence and one that is wrong where
only the whole shows it."""
import struct
import unittest

from kernel_files import KERNELS, KernelFileTest, floats
from lab import OCLGRIND_LIBRARY, main

SEQUENCES = KERNELS / "sequence"


def sequence(name, *changes):
    """The file's text with each (old, new) changed."""
    text = (SEQUENCES / name).read_text()
    for old, new in changes:
        assert text.count(old) == 1, (name, old, text.count(old))
        text = text.replace(old, new)
    return text


def jacobi(n, sweeps):
    """The two grids after so many sweeps, with numbers that floats hold exactly."""
    front = [float(i) for i in range(n * n)]
    back = list(front)
    first = list(front)
    for _ in range(sweeps):
        for y in range(1, n - 1):
            for x in range(1, n - 1):
                at = y * n + x
                back[at] = 0.25 * (front[at - 1] + front[at + 1] + front[at - n] + front[at + n]) + 1.0
        front, back = back, front
    return first, front, back


class Proof(KernelFileTest):
    def sort(self, *changes, status=0, args=()):
        records = self.check(sequence("counting_sort.cl", *changes), *args, status=status)
        return next(r for r in records if r["variant"] == "sort")

    def test_consecutive_kernels_are_one_operation_with_a_reference(self):
        record = self.sort()
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "reference slow_sort"))
        self.assertEqual(record["work"]["launches"], 3)
        self.assertTrue(any(w.startswith("fresh-data: cllab restores counts before each timed operation") for w in record["warnings"]), record["warnings"])

    def test_wrong_order_and_missing_reset_are_wrong_results(self):
        for change in (("= count, scan, scatter", "= scan, count, scatter"), ("reset counts\n", "")):
            with self.subTest(change=change):
                record = self.sort(change, status=1)
                self.assertEqual(record["status"], "wrong_result")
                self.assertRegex(record["reason"], r"^(counts|sorted)\[\d+\] is \d+, the reference 'slow_sort' has \d+; \d+ of \d+ elements differ$")

    def test_swapped_buffers_end_as_in_a_host_loop(self):
        for sweeps, wanted in ((4, 4), (5, 5), (5, 4)):
            with self.subTest(sweeps=sweeps, wanted=wanted):
                first, front, back = jacobi(16, wanted)
                for name, values in (("first", first), ("front", front), ("back", back)):
                    (self.folder / f"{name}.bin").write_bytes(floats(values))
                text = sequence("jacobi.cl", ("arg front = iota:n*n", "arg front = file:first.bin"), ("arg back = iota:n*n", "arg back = file:first.bin"))
                record, = self.check(text, "-a", "n=16", "-a", f"sweeps={sweeps}", "--expect", "front=front.bin", "--expect", "back=back.bin",
                                     status=0 if sweeps == wanted else 1)
                self.assertEqual(record["status"], "ok" if sweeps == wanted else "wrong_result", record["reason"])
                if sweeps != wanted:
                    self.assertRegex(record["reason"], r"^(front|back)\[\d+\] is \S+, expected \S+; \d+ of \d+ elements differ$")
                    continue
                self.assertIn(record["checked_by"], ("file front.bin", "file back.bin"))
                self.assertEqual(record["work"]["launches"], sweeps)

    def test_kernel_used_twice_reduces_everything(self):
        record, = self.check(sequence("reduce_twice.cl"))
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "relation sum of total preserved from src, only itself (partial)"))
        record, = self.check(sequence("reduce_twice.cl", ("arg src = partial\n", "")), status=1)
        self.assertIn("the relation 'sum of total preserved from src' does not hold", record["reason"])

    def test_second_use_may_write_to_another_buffer(self):
        changes = ("kernel first = reduce\narg dst = partial\n", "kernel first = reduce\n"), ("arg dst = total", "arg partial = total")
        record, = self.check(sequence("reduce_twice.cl", *changes, ("__global int* dst", "__global int* partial"), ("dst[get_group_id(0)]", "partial[get_group_id(0)]")))
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "relation sum of total preserved from src, only itself (partial)"))

    def test_repeating_relation_launches_the_whole_sequence(self):
        linear = ("relation sum of total preserved from src", "relation linear in src")
        record, = self.check(sequence("reduce_twice.cl", linear), "--tolerance", "absolute=0")
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "relation linear in src"))
        record, = self.check(sequence("reduce_twice.cl", linear, ("dst[get_group_id(0)] = part[0]", "dst[get_group_id(0)] = part[0] + 1")), status=1)
        self.assertIn("the relation 'linear in src' does not hold", record["reason"])

    def test_values_and_sizes_follow_the_repetition_number(self):
        for change, status in ((("rep\n", "rep\n"), "ok"), (("1 << rep", "1 + rep"), "wrong_result"), (("repeat log2n", "repeat log2n - 1"), "wrong_result")):
            with self.subTest(change=change):
                records = self.check(sequence("prefix_sums.cl", change), "-a", "log2n=7", status=status != "ok")
                record = next(r for r in records if r["variant"] == "sums")
                self.assertEqual(record["status"], status, record["reason"])

    def test_buffer_reset_before_each_repetition_holds_one_result(self):
        text = """/*cllab
arg keys = iota:1024
arg bins = zero:16
global 1024
sequence counts = count
repeat 3
{}expect bins = bins.bin
*/
__kernel void count(__global const int* keys, __global int* bins) {{ atomic_inc(&bins[keys[get_global_id(0)] % 16]); }}
"""
        for times, reset in ((1, "reset each bins\n"), (3, "reset bins\n")):
            (self.folder / "bins.bin").write_bytes(struct.pack("<16i", *[64 * times] * 16))
            record, = self.check(text.format(reset), "--steps")
            self.assertEqual((record["status"], record["checked_by"]), ("ok", "file bins.bin"), record["reason"])
            self.assertEqual(record["work"]["launches"], 3)
            self.assertEqual("step_reset" in record["metrics"], times == 1)
        record, = self.check(text.format("reset each bins\n"), status=1)
        self.assertRegex(record["reason"], r"^bins\[0\] is 64, expected 192; \d+ of \d+ elements differ$")

    def test_axis_used_only_in_sequence_lines_is_accepted(self):
        text = sequence("prefix_sums.cl", ("repeat log2n\n", "repeat times\n"))
        self.assertEqual({r["status"] for r in self.check(text, "-a", "times=10")}, {"ok"})


class AsAVariant(KernelFileTest):
    def test_kernels_of_a_sequence_run_alone_only_if_named(self):
        self.assertEqual({r["variant"] for r in self.check(sequence("counting_sort.cl"))}, {"sort", "slow_sort"})
        self.lab("run", "t.cl:count", "--verify", "--no-dumps", "--device", "cpu", "--json", "count.jsonl")
        self.assertEqual([r["variant"] for r in self.records("count.jsonl")], ["count"])

    def test_time_of_each_kernel_is_reported(self):
        record, = self.check(sequence("reduce_twice.cl"), "--steps")
        parts = {name: m["value"] for name, m in record["metrics"].items() if name.startswith("step_")}
        self.assertLessEqual({"step_first", "step_last", "step_whole"}, set(parts), record["metrics"].keys())
        self.assertGreater(min(parts["step_first"], parts["step_last"]), 0)

    def test_code_of_a_sequence_covers_all_its_kernels(self):
        def fingerprint(*changes):
            record, = self.check(sequence("reduce_twice.cl", ("sequence sum = first, last", "kernel none = other\narg dst = total\nglobal 1\nlocal 1\nsequence sum = first, last, none"),
                                          ("__kernel void reduce", "__kernel void other(__global int* dst) { if (dst[0] < 0) dst[0] = 1; }\n__kernel void reduce"), *changes))
            return record["code"]["fingerprint"]
        before = fingerprint()
        self.assertEqual(before, fingerprint())
        self.assertNotEqual(before, fingerprint(("dst[0] = 1;", "dst[0] = 2;")))

    def test_sequence_is_compared_with_a_kernel(self):
        self.write(sequence("counting_sort.cl"))
        _, err = self.lab("run", "t.cl:sort", "--vs", "slow_sort", "--device", "cpu", "--no-dumps", "--max-time", "0.1", "--json", "r.jsonl")
        self.assertEqual({r["variant"]: r["status"] for r in self.records() if "variant" in r}, {"sort": "ok", "slow_sort": "ok"}, err)
        verdict, = [r for r in self.records() if r.get("record") == "comparison"]
        self.assertEqual((verdict["left"], verdict["right"]), ("t_sort", "t_slow_sort"))

    def test_the_code_of_each_kernel_is_shown(self):
        self.write(sequence("counting_sort.cl"))
        out, _ = self.lab("isa", "t.cl:sort", "--target", "gfx900", "--summary")
        for kernel in ("count", "scan", "scatter"):
            self.assertRegex(out, rf"\bt_{kernel}\b")
        self.assertNotIn("slow_sort", out)

    @unittest.skipUnless(OCLGRIND_LIBRARY, "Oclgrind is not installed")
    def test_each_kernel_of_a_sequence_is_counted(self):
        self.write(sequence("counting_sort.cl"))
        out, _ = self.lab("count", "t.cl:sort", "-a", "n=256")
        for kernel in ("count", "scan", "scatter"):
            self.assertRegex(out, rf"\b{kernel}\b")

    @unittest.skipUnless(OCLGRIND_LIBRARY, "Oclgrind is not installed")
    def test_oclgrind_findings_in_its_kernels_count_for_the_sequence(self):
        self.write("""/*cllab
axis n = 64
arg x = rand:int:n:0:9
arg y = out:n
global n
sequence both = first, second
*/
__kernel void first(__global const int* x, __global int* y) { y[get_global_id(0)] = x[get_global_id(0)]; }
__kernel void second(__global int* y) { y[get_global_id(0) + 1] = 3; }
""")
        out, _ = self.lab("run", "t.cl:both", "--device", "cpu", "--check", "oclgrind", status=1)
        self.assertIn("t_both in Oclgrind at n=64: 1 place\n  t.cl:9: Invalid write of size 4 in global memory in kernel 'second'", out)


class Refusals(KernelFileTest):
    def refused(self, sentence, *changes, name="counting_sort.cl"):
        self.write(sequence(name, *changes))
        _, err = self.lab("run", "t.cl", "--device", "cpu", "--no-dumps", status=2)
        self.assertEqual(err.strip(), f"cllab: {sentence}")

    def test_invalid_sequence_is_refused_in_one_sentence(self):
        self.refused("t.cl:18:24: sequence 'sort' lists 'skan', which is not a kernel of 't.cl'; its kernels are count, scan, scatter, slow_sort",
                     ("= count, scan, scatter", "= count, skan, scatter"))
        self.refused("t.cl:19:7: 'reset' names 'bins', which is not a buffer of sequence 'sort'; its shared arguments are keys, counts, sorted", ("reset counts", "reset bins"))
        self.refused("t.cl:11:6: 'front' has 1024 elements and 'back' has 512; only buffers of the same length can be swapped",
                     ("arg back = iota:n*n", "arg back = iota:n*n/2"), name="jacobi.cl")


if __name__ == "__main__":
    main()
