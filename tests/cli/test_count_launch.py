"""`cllab count`: what the counted groups say of the launch, and of launches that one operation repeats."""
import re

import counting
import lab
from lab import words

BLOCK = """/*cllab
axis n = %s
arg a = %s
arg b = out:n
arg n = n
global n
local %s
*/
"""


class CountLaunch(counting.CountTest):
    def count(self, text, *options, n="65536", a="zero:n", local="64", **more):
        (self.folder / "g.cl").write_text(BLOCK % (n, a, local) + text)
        return self.counts("g.cl", *options, **more)

    def page(self, text, *options, n="65536", a="zero:n", local="64"):
        (self.folder / "g.cl").write_text(BLOCK % (n, a, local) + text)
        return self.lab("count", "g.cl", *options)[0]

    def test_a_wave_holds_only_the_items_of_its_group(self):
        text = "kernel void three(global int* a, global int* b, int n) { int i = get_global_id(0); b[i] = i * 3; }\n"
        per_wave = {}
        for size in 1, 8, 24, 32, 48, 64:
            page = self.page(text, n="192", local=str(size))
            self.assertRegex(page, rf"(?m)^  work-items per wave +{min(size, 24 if size == 48 else 32)}( of 32)?$")
            per_wave[size] = re.search(r"(?m)^  instructions per wave +(\S+)$", page)[1]
        self.assertEqual(len(set(per_wave.values())), 1, per_wave)

    def test_work_of_uncounted_groups_is_unknown_not_zero(self):
        text = "kernel void one_works(global float* a, global float* b, int n) {\n" \
               "  int i = get_global_id(0); float v = i;\n" \
               "  if (get_group_id(0) == 700) for (int k = 0; k < 100000; ++k) v = sqrt(v);\n" \
               "  b[i] = v; }\n"
        counts = self.count(text, "--count-budget", "1", n="1048576")["one_works"]
        root = next(o for o in counts["operations"] if o["kind"] == "float_function")
        self.assertEqual(root["per_item"], {"low": 0, "high": 0})
        self.assertNotIn("mean", counts["issued"])
        self.assertEqual(counts["global"]["store_bytes"]["mean"], 4, "and what that code does not do is known")
        self.assertIn("the code at line ", counts["not_counted"][0]["what"])
        page = self.page(text, "--count-budget", "1", n="1048576")
        self.assertRegex(page, r"(?m)^  float32 sqrt +not known \[0\]$")
        self.assertRegex(page, r"(?m)^  instructions per wave +not known$")
        # A launch that is counted whole has it all.
        whole = self.count(text.replace("700", "7").replace("100000", "100"), n="1024")["one_works"]
        self.assertEqual(self.operations(whole)["float_function", 32, "sqrt"], 100 / 16)

    def test_mean_of_uneven_groups_has_an_interval_with_the_true_value(self):
        text = "kernel void uneven(global float* a, global float* b, int n) {\n" \
               "  int i = get_global_id(0), g = get_group_id(0); float v = i;\n" \
               "  int times = (g * 2654435761u >> 16) % 64; times = times * times / 16;\n" \
               "  for (int k = 0; k < times; ++k) v = fma(v, 0.5f, 1.5f);\n  b[i] = v; }\n"
        groups = 16384
        times = [((g * 2654435761) % 2**32 >> 16) % 64 for g in range(groups)]
        truth = sum(t * t // 16 for t in times) / groups
        counts = self.count(text, "--count-budget", "30", n=str(64 * groups))["uneven"]
        fma = next(o["per_item"] for o in counts["operations"] if o["kind"] == "float_fma")
        self.assertGreater(counts["counted_groups"], 120, "alike groups stop there")
        self.assertLess(abs(fma["mean"] - truth), 1.5 * fma["margin"], (fma, truth))
        self.assertLess(fma["margin"], truth / 4)
        self.assertLess(counts["global"]["store_bytes"]["margin"], 0.25, "which are alike")
        self.assertTrue(fma["open"])

    def test_too_long_last_group_is_reported(self):
        text = "kernel void last(global float* a, global float* b, int n) {\n" \
               "  int i = get_global_id(0); float v = i;\n" \
               "  for (int k = 0; k < (get_group_id(0) == 1 ? 1 << 30 : 10); ++k) v = fma(v, 0.5f, 1.5f);\n  b[i] = v; }\n"
        counts = self.count(text, "--count-budget", "2", n="128")["last"]
        self.assertEqual((counts["counted_groups"], counts["groups"]), (1, 2))
        self.assertNotIn("mean", counts["operations"][0]["per_item"])
        self.assertIn("1 of 2 groups", [n["what"] for n in counts["not_counted"]])

    def test_distinct_bytes_are_counted_per_launch(self):
        few = "kernel void few(global int* a, global int* b, int n) { int i = get_global_id(0); if (a[i % 3] > 5) b[0] = 1; }\n"
        page = self.page(few, n="4096")
        self.assertRegex(page, r"(?m)^  distinct bytes, launch +12$")
        self.assertRegex(page, r"(?m)^  distinct sectors, counted groups +1$")
        apart = "kernel void apart(global int* a, global int* b, int n) { int i = get_global_id(0); b[i * 16 % n] = a[i]; }\n"
        self.assertEqual(self.count(apart, n="4096")["apart"]["footprint"][-1]["bytes"], 4 * 4096 + 4 * 256)
        page = self.page(apart, n="1048576")
        self.assertRegex(page, r"(?m)^  distinct bytes, launch +not known$")
        self.assertRegex(page, r"(?m)^  groups counted +120 of 16384$")

    def test_each_launch_is_counted_and_equal_ones_once(self):
        found = self.counts(lab.SOURCE / "tests" / "kernels" / "sequence" / "jacobi.cl")
        self.assertEqual((found["sweep"]["launch"], found["sweep"]["launches"]), ("1 of 5", 5))
        self.assertNotIn("not_counted", found["sweep"])
        self.counts(lab.SOURCE / "tests" / "kernels" / "sequence" / "reduce_twice.cl")
        lines = self.records("counts.jsonl")
        self.assertEqual([(c["kernel"], c["launch"], c["items"]) for c in lines],
                         [("reduce", "1 of 2", 65536), ("reduce", "2 of 2", 256)], "the second one is an alias")

    def test_launch_depending_on_partly_counted_data_has_no_means(self):
        (self.folder / "s.cl").write_text("""/*cllab
axis n = 262144
arg a = out:n
arg b = out:n
global n
local 64
sequence both = sets, follows
*/
kernel void sets(global int* a) { a[get_global_id(0)] = get_global_id(0) % 9; }
kernel void follows(global const int* a, global int* b) {
    int i = get_global_id(0), s = 0; for (int k = 0; k < (a[i] & 15); ++k) s += k * i ^ s; b[i] = s; }
""")
        found = self.counts("s.cl:both")
        self.assertIn("mean", found["sets"]["issued"])
        self.assertNotIn("mean", found["follows"]["issued"])
        self.assertIn("what depends on the data of launches before this one", [n["what"] for n in found["follows"]["not_counted"]])

    def test_unknown_figures_are_not_compared(self):
        (self.folder / "v.cl").write_text(BLOCK % ("1048576", "zero:n", "64") + """
kernel void hides(global float* a, global float* b, int n) {
    int i = get_global_id(0); float v = a[i];
    if (get_group_id(0) == 700) for (int k = 0; k < 1000; ++k) v = sqrt(v);
    b[i] = v; }
kernel void plain(global float* a, global float* b, int n) { int i = get_global_id(0); b[i] = a[i] + a[i * 8 % n]; }
""")
        out, _ = self.lab("count", "v.cl:hides", "--vs", "plain", "--count-budget", "1")
        said = words(out.split("\n\n")[-1])
        self.assertIn("v_plain has 5 times as many sectors of global memory", said)
        self.assertRegex(said, "Not known, and so not compared: floating-point operations, .*instructions of waves")


if __name__ == "__main__":
    counting.main()
