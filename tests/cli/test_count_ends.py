"""`cllab count` where not all can be counted: images, the budget, what is missing, refused or crashes."""
import shutil

import counting
import lab
from lab import words

IMAGES = """/*cllab
arg in = rand:r32f:64,64
arg out = out:4096
global 64,64
*/
kernel void pixels(read_only image2d_t in, global float* out) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    int x = get_global_id(0), y = get_global_id(1);
    out[y * 64 + x] = read_imagef(in, s, (int2)(x, y)).x + read_imagef(in, s, (int2)(x + 1, y)).x +
                      read_imagef(in, s, (int2)(x + 2, y)).x;
}
"""

WAVES = """/*cllab
arg a = rand:256
arg b = out:256
global 256
local 256
*/
kernel void all_pairs(global const float* a, global float* b) {
    float sum = 0;
    for (int k = 0; k < 60000; ++k) sum += a[k % 256] * a[get_global_id(0)];
    b[get_global_id(0)] = sum;
}
"""

LONG = """/*cllab
axis n = 1Mi
arg a = rand:n
arg b = out:n
arg n = n
global n
local 256
*/
kernel void all_pairs(global const float* a, global float* b, int n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[k] * a[get_global_id(0)];
    b[get_global_id(0)] = sum;
}
"""


class CountEnds(counting.CountTest):
    def test_intrinsics_made_by_clang_are_simulated_right(self):
        file = lab.SOURCE / "tests" / "kernels" / "count" / "intrinsics.cl"
        found = self.counts(file)
        self.assertEqual(len(found), 13)
        for kernel, counts in found.items():
            self.assertNotIn("not_counted", counts, kernel)
        self.assertEqual(self.operations(found["bytes"]), {("integer_add", 8, ""): 1}, "one rotation")
        for driver in lab.POCL_ICD, lab.OCLGRIND_LIBRARY:  # as a device like any other, it says what the text leaves
            (self.folder / f"{driver.stem}.icd").write_text(driver.read_text() if driver.suffix == ".icd" else f"{driver}\n")
        self.lab("run", file, "--device", "oclgrind", "--check", "--verify", "--no-dumps", "--json", "r.jsonl",
                 env=self.environment(OCL_ICD_VENDORS=str(self.folder), OCLGRIND_PLUGINS=counting.PLUGIN))
        for record in self.records("r.jsonl"):
            self.assertRegex(record["checked_by"], "^agrees with .* at n=1024(, one input)?$", record["id"])

    def test_images_report_what_is_not_counted(self):
        (self.folder / "i.cl").write_text(IMAGES)
        counts = self.counts("i.cl")["pixels"]
        self.assertEqual([n["what"] for n in counts["not_counted"]], ["the bytes of 3 image accesses per item"])
        self.assertEqual(self.operations(counts)["float_add", 32, ""], 2, "of one element each")

    def test_too_long_launch_is_counted_at_a_smaller_point(self):
        (self.folder / "long.cl").write_text(LONG)
        found = self.counts("long.cl")["all_pairs"]
        self.assertEqual(found["asked_point"], {"n": 1 << 20})
        n = found["point"]["n"]
        self.assertLess(n, 1 << 20)
        self.assertEqual(self.operations(found)["float_fma", 32, ""], n)
        points = [g["point"]["n"] for g in found["growth"]]
        self.assertEqual(points, sorted(points))
        self.assertEqual([g["flops"] for g in found["growth"]], [2 * p for p in points])
        self.assertEqual(points[-1], n)

    def test_whole_waves_are_counted_if_a_group_takes_too_long(self):
        (self.folder / "long.cl").write_text(WAVES)
        (self.folder / "counts.jsonl").touch()  # what cannot be counted writes none
        for budget in "5", "10", "20", "2":  # enough for a wave and not for a group: a matter of the machine
            found = self.counts("long.cl", "--count-budget", budget, status=None).get("all_pairs")
            if found and found["counted_items"] < 256:
                break
        self.assertLess(found["counted_items"], 256)
        self.assertEqual(found["counted_items"] % 32, 0)
        self.assertEqual(self.operations(found)["float_fma", 32, ""], 60000)
        self.assertGreater(found["lines"][0]["instructions"], 0.9 * found["issued"]["mean"])
        self.assertIn("the rest of the first group", [n["what"] for n in found["not_counted"]])

    def test_too_long_kernel_without_axes_gives_a_sentence(self):
        endless = "/*cllab\narg b = out:256\nglobal 256\nlocal 256\n*/\nkernel void spin(global int* b) {\n" \
                  "  volatile int k = 0; while (k == 0) k = 0; b[0] = k; }\n"
        (self.folder / "spin.cl").write_text(endless)
        _, err = self.lab("count", "spin.cl", "--count-budget", "1", status=1)
        self.assertIn("spin_spin: not counted: simulating one work-group takes longer than --count-budget, 1 s",
                      err)

    def test_missing_simulator_files_are_reported(self):
        (self.folder / "k.cl").write_text(counting.KERNELS)
        env = self.environment(CLLAB_COUNT_PLUGIN="nowhere.so")
        self.assert_one_sentence(self.lab("count", "k.cl:copy", env=env, status=3)[1], "nowhere.so")
        moved = self.folder / "cllab"
        shutil.copy(lab.CLLAB, moved)
        _, err = self.lab("count", "k.cl:copy", program=str(moved), status=3)
        self.assert_one_sentence(err, "apt-get install liboclgrind-dev llvm-14-dev")
        broken = self.folder / "broken.so"
        broken.write_text("no library")
        env = self.environment(CLLAB_COUNT_PLUGIN=str(broken))
        self.assertIn("did not load the plugin", self.lab("count", "k.cl:copy", env=env, status=1)[1])

    def test_a_wrong_command_line_is_refused(self):
        self.assert_one_sentence(self.lab("count", status=2)[1], "PATTERN")
        self.assert_one_sentence(self.lab("count", "no_such", status=2)[1], "no_such")
        self.assert_one_sentence(self.lab("count", "saxpy_w32", "--device", "cpu", status=2)[1], "--device")
        self.assert_one_sentence(self.lab("count", "saxpy_w32", "--wave", "0", status=2)[1], "--wave")

    def test_kernel_with_unsupported_calls_leaves_the_other_counts(self):
        (self.folder / "lacks.cl").write_text("/*cllab\narg b = out:256\nglobal 256\n*/\n"
                                              "kernel void lacks(global int* b) { b[0] = sub_group_reduce_add(3); }\n"
                                              "kernel void fine(global int* b) { b[get_global_id(0)] = 3; }\n")
        _, err = self.lab("count", "lacks.cl", "--json", "counts.jsonl", status=1)
        self.assertIn("lacks_lacks: not counted: the simulator cannot create kernel 'lacks', which may call a function that it lacks", words(err))
        lines = self.records("counts.jsonl")
        self.assertEqual(sorted((line["id"], "refused" in line) for line in lines), [("lacks_fine", False), ("lacks_lacks", True)])

    def test_text_that_does_not_build_gives_a_sentence(self):
        (self.folder / "bad.cl").write_text("/*cllab\narg b = out:256\nglobal 256\n*/\n"
                                            "kernel void bad(global int* b) { b[0] = nothing; }\n")
        _, err = self.lab("count", "bad.cl", status=None)
        self.assertIn("nothing", err)


if __name__ == "__main__":
    counting.main()
