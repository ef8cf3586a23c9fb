"""What the lessons are studied with: build options as an axis beside the largest error, the time of each part of an operation,
and the bright pixels of a difference map."""
import fnmatch
import math
import re
import shlex
import sys

from lab import LabTest, SOURCE, against_noise, main

sys.path.insert(0, str(SOURCE / "tests" / "device"))
from sizes import INSTEAD, SIZES  # noqa: E402

OFF = """/*cllab
  arg src = const:1:1024
  global 1024
*/
#ifndef OFF
#define OFF 0
#endif
kernel void shift(global const float* src, global float* dst) { dst[get_global_id(0)] = src[get_global_id(0)] + OFF; }
"""


class BuildOptions(LabTest):
    def run_options(self, pattern, options, *more, status=0):
        self.lab("run", pattern, "--device", "cpu", "--no-yardstick", "--no-dumps", "--max-time", "0.02", "--axis", f"options={options}",
                 "--json", "r.jsonl", "--force", *more, status=status)
        return {r["point"]["options"]: r for r in self.records()}

    def test_each_build_option_has_time_and_largest_error_in_one_table(self):
        records = self.run_options("pitch_float", ",-cl-fast-relaxed-math,-cl-mad-enable,-cl-opt-disable", "--tolerance", "absolute=1",
                                   "--axis", "width=300", "--axis", "height=30")
        self.assertEqual(list(records), ["none", "-cl-fast-relaxed-math", "-cl-mad-enable", "-cl-opt-disable"])
        for options, record in records.items():
            with self.subTest(options):
                self.assertEqual(record["status"], "ok", record["reason"])
                self.assertGreater(record["time"]["median"], 0)
                self.assertLessEqual(record["metrics"]["error_absolute"]["value"], 1)
                self.assertEqual(options in record["build"]["options"], options != "none")
        self.assertEqual(records["none"]["metrics"]["error_absolute"]["value"], 0)

    def test_options_that_change_a_result_are_wrong_without_a_tolerance(self):
        (self.folder / "shift.cl").write_text(OFF)
        options = ",-DOFF=0.25f,-DOFF=-3.0f"
        records = self.run_options("shift.cl", options, status=1)
        self.assertEqual([r["status"] for r in records.values()], ["ok", "wrong_result", "wrong_result"])
        self.assertIn("dst[0] is 1.25, 'shift' at options=none has 1", records["-DOFF=0.25f"]["reason"])
        records = self.run_options("shift.cl", options, "--tolerance", "absolute=0.5 relative=0.1", status=1)
        self.assertEqual([r["status"] for r in records.values()], ["ok", "ok", "wrong_result"])
        metrics = records["-DOFF=0.25f"]["metrics"]
        self.assertEqual(metrics["error_absolute"]["value"], 0.25)
        self.assertEqual(metrics["error_relative"]["value"], 0.25)
        self.assertEqual(metrics["error_ulp"]["value"], 2.0 ** 21)
        self.assertEqual(records["none"]["metrics"]["error_absolute"]["value"], 0)

    def test_invalid_build_option_or_tolerance_is_refused(self):
        for more, part in ((["--axis", "options=O3"], "axis 'options' cannot be 'O3'"),
                           (["--tolerance", "about=1"], "'tolerance' takes absolute=X, relative=X or ulp=X")):
            out, err = self.lab("run", "muladd_mad", "--device", "cpu", *more, status=2)
            self.assertIn(part, err)


class OptionsAsSides(LabTest):
    SMALL = ["--device", "cpu", "--no-yardstick", "--max-time", "0.5", "--axis", "width=512", "--axis", "height=512"]

    def test_a_variant_is_compared_with_itself_under_other_build_options(self):
        out, _ = self.lab("run", "pitch_float", "--vs=-cl-opt-disable", *self.SMALL, "--tolerance", "absolute=1", "--json", "r.jsonl")
        *cells, comparison = self.records()
        self.assertEqual([cell["point"]["options"] for cell in cells], ["none", "-cl-opt-disable"])
        self.assertNotIn("-cl-opt-disable", cells[0]["build"]["options"])
        self.assertIn("-cl-opt-disable", cells[1]["build"]["options"])
        self.assertEqual((comparison["left"], comparison["right"]), ("pitch_float", "pitch_float -cl-opt-disable"))
        self.assertTrue(comparison["arrangements"])
        self.assertNotIn(comparison["verdict"], ("same code",))
        self.assertIn("pitch_float against pitch_float -cl-opt-disable: ", out)
        self.assertRegex(out, r"\n +pitch_float +pitch_float -cl-opt-disable *\n")  # above the two codes

    def test_kernel_file_accepts_build_options_as_sides(self):
        (self.folder / "twice.cl").write_text("/*cllab\narg a = rand:4096\narg b = out:4096\nglobal 4096\n*/\n"
                                              "kernel void twice(global const float* a, global float* b) { b[get_global_id(0)] = 2 * a[get_global_id(0)]; }\n")
        self.lab("run", "twice.cl", "--vs=-cl-mad-enable", "--device", "cpu", "--no-yardstick", "--no-dumps", "--max-time", "0.5", "--json", "r.jsonl")
        self.assertEqual(self.records()[-1]["right"], self.records()[-1]["left"] + " -cl-mad-enable")

    def test_a_variant_is_compared_with_itself_at_another_point(self):
        (self.folder / "w.cl").write_text("/*cllab\naxis width = 8\naxis n = 4096\narg a = rand:n\narg b = out:n\nglobal n/width\noptions -DW={width}\n"
                                          "where width < 64\n*/\nkernel void k(global const float* a, global float* b) {\n"
                                          "    for (int i = 0; i < W; i++) b[get_global_id(0) * W + i] = 2 * a[get_global_id(0) * W + i];\n}\n")
        common = ["--device", "cpu", "--no-yardstick", "--max-time", "0.5"]
        out, _ = self.lab("run", "w.cl", "--vs", "width=16", *common, "--json", "r.jsonl")
        *cells, comparison = self.records()
        self.assertEqual([cell["point"]["width"] for cell in cells], [8, 16])
        self.assertEqual((comparison["left"], comparison["right"]), ("w_k width=8", "w_k width=16"))
        self.assertEqual((comparison["point"], comparison["right_point"]), tuple(cell["point"] for cell in cells))
        self.assertTrue(comparison["arrangements"])
        self.assertIn("w_k width=8 against w_k width=16: ", out)
        self.assertRegex(out, r"\n +w_k width=8 +w_k width=16 *\n")  # above the two codes
        # Each value of --axis against that of --vs; the point itself is measured once.
        self.lab("run", "w.cl:k", "--axis", "width=8,16,32", "--vs", "width=16,n=8Ki", *common, "--no-dumps", "--json", "r.jsonl", "--force")
        self.assertEqual([(r["left"], r["right"]) for r in self.records() if "left" in r],
                         [("w_k width=8 n=4096", "w_k width=16 n=8192"), ("w_k n=4096", "w_k n=8192"), ("w_k width=32 n=4096", "w_k width=16 n=8192")])
        self.assertEqual(sum("id" in r for r in self.records()), 4)
        out, _ = self.lab("isa", "w.cl", "--vs", "width=16", "--device", "cpu")
        self.assertRegex(out, r"\n +w_k +w_k width=16 *\n")
        for versus, words in (("width=8", "--vs width=8 is the only point of 'w_k'"), ("wide=8", "'w_k' has no axis 'wide'"), ("width=8,width=16", "'--vs' sets 'width' twice"),
                              ("width=", "option '--vs': expected NAME=VALUE"), ("width=x", "axis 'width' cannot be 'x'"), ("width=64", "excludes the only point")):
            self.assertIn(words, self.lab("run", "w.cl", "--vs", versus, *common, status=2)[1])

    def test_both_codes_of_a_target_are_side_by_side(self):
        out, _ = self.lab("isa", "muladd_mad", "--target", "gfx900", "--vs=-cl-opt-disable")
        self.assertRegex(out, r"\n +muladd_mad +muladd_mad -cl-opt-disable *\n")
        registers = re.search(r"\nregisters +(\d+) +(\d+)", out)
        self.assertNotEqual(registers[1], registers[2])

    def test_invalid_combinations_with_build_options_are_refused(self):
        self.assertIn("--vs -cl-mad-enable compares one variant with itself, but PATTERN matches 2 variants",
                      self.lab("run", "pitch_float", "pitch_roi", "--vs=-cl-mad-enable", "--device", "cpu", status=2)[1])

    def test_axis_gives_the_first_side_its_build_options(self):
        self.lab("run", "muladd_fma", "--vs=-cl-opt-disable", "--axis", "options=-w", "--axis", "items=64", *self.SMALL[:-4], "--no-dumps", "--json", "r.jsonl")
        self.assertEqual((self.records()[-1]["left"], self.records()[-1]["right"]), ("muladd_fma -w", "muladd_fma -cl-opt-disable"))

    def test_cuda_needs_an_nvidia_device(self):
        self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "options=,-x cuda", "--no-dumps", "--no-yardstick", "--max-time", "0.02", "--json", "r.jsonl")
        self.assertEqual({(r["point"]["options"], r["status"], r["reason"]) for r in self.records()},
                         {("none", "ok", ""), ("-x cuda", "unsupported", "the build option -x cuda needs a device with NVIDIA's driver")})


class Steps(LabTest):
    @against_noise
    def test_parts_of_an_operation_have_their_own_times(self):
        expected = {"himeno_resident": {"sweep", "residual", "copy"}, "himeno_swap": {"sweep", "residual"},
                    "himeno_region": {"up", "sweep", "residual", "copy", "down"}, "himeno_data": {"sweep", "residual", "copy", "down"},
                    "reduce_tree2": {"first_pass", "second_pass"}, "batchnorm_channel_wide": {"partial_sums", "result"}}
        for pattern, axes in (("himeno_*", ["size=XXS", "sweeps=2"]), ("reduce_*", ["size=65536"]), ("batchnorm_channel_*", ["images=2", "channels=3"])):
            ids = [i for i in expected if i.startswith(pattern.split("*")[0])]
            self.lab("run", *ids, "--device", "cpu", "--no-yardstick", "--no-dumps", "--max-time", "0.02", "--steps",
                     *[a for axis in axes for a in ("--axis", axis)], "--json", "r.jsonl", "--force")
            for record in self.records():
                parts = {name[5:]: m["value"] for name, m in record["metrics"].items() if name.startswith("step_") and name != "step_time"}
                self.assertEqual(set(parts) - {"between", "whole"}, expected[record["id"]], (record["status"], record["reason"], record["warnings"]))
                self.assertTrue(all(v > 0 for name, v in parts.items() if name != "between"), parts)
                self.assertGreaterEqual(parts["between"], 0)
                # Medians of parts are not the parts of a median: together they come near the whole. The whole is of other launches than the record's time.
                whole = parts.pop("whole")
                self.assertLess(abs(math.log(sum(parts.values()) / whole)), math.log(2))
                self.assertLess(abs(math.log(whole / record["time"]["median"])), math.log(4))

    def test_an_operation_of_one_launch_has_no_parts(self):
        self.lab("run", "muladd_mad", "--device", "cpu", "--no-yardstick", "--no-dumps", "--max-time", "0.02", "--steps", "--json", "r.jsonl")
        self.assertEqual([n for n in self.records()[0]["metrics"] if n.startswith("step_") and n != "step_time"], [])


class Bright(LabTest):
    def test_the_published_test_image_shows_its_defect_and_four_echoes(self):
        width, height = 120, 100
        pixels = bytearray(int(127.5 + 127.5 * math.sin(2 * math.pi * (i % width) / 20.2)) for i in range(width * height))
        pixels[50 * width + 50] = 50
        (self.folder / "panel.pgm").write_bytes(b"P5\n%d %d\n255\n" % (width, height) + pixels)
        seen = {"published": [(29, 41), (30, 10), (50, 95), (70, 11), (71, 39)], "linear": [(29, 10), (30, 38), (50, 96), (70, 39), (71, 9)]}
        for weights, expected in seen.items():
            out, _ = self.lab("run", "pitch_implicit", "pitch_wide", "--device", "cpu", "--verify", "--no-dumps", "--input", "src=panel.pgm",
                              "--axis", f"weights={weights}", "--count-above", "5", "--json", "r.jsonl", "--force")
            for record in self.records():
                with self.subTest(record["id"], weights=weights):
                    above = record["above"]
                    self.assertEqual((above["level"], above["pixels"]), (5, 5))
                    self.assertEqual(set(above["y"]), {50})
                    self.assertEqual(list(zip(above["x"], above["value"])), expected)
                    self.assertEqual(record["metrics"]["above_5"]["value"], 5)
            self.assertIn("5 pixels above 5: (29, 50)", out)

    def test_impossible_grey_level_is_refused(self):
        _, err = self.lab("run", "pitch_wide", "--device", "cpu", "--count-above", "256", status=2)
        self.assertIn("option '--count-above': expected grey levels from 0 to 255, found 256", err)


class Lessons(LabTest):
    """The rows of tests/LESSONS.md: the command of each works as it stands there."""

    def rows(self):
        for line in (SOURCE / "tests" / "LESSONS.md").read_text().splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) == 4 and cells[1].startswith("`cllab "):
                yield cells

    def variants_with(self, family, known={}):
        """axis -> the variants that have it, all of them where it is nobody's alone."""
        if family not in known:
            axes = known.setdefault(family, {})
            for line in self.lab("describe", family)[0].splitlines():
                if found := re.match(r"  (\w+) = ", line):
                    axes[found[1]] = None
                elif found := re.match(r" +only (.*)", line):
                    axes[list(axes)[-1]] = {f"{family}_{name}" for name in found[1].split(", ")}
        return known[family]

    def test_every_row_states_result_and_place(self):
        rows = list(self.rows())
        self.assertGreater(len(rows), 100)
        for lesson, command, seen, where in rows:
            self.assertTrue(lesson and seen and where, command)
            self.assertIn(where.split(",")[0], ("H100", "H200", "CPU", "gfx900", "sm_80", "sm_90"))

    def test_kernels_of_every_row_have_its_axes_and_are_right(self):
        together = {}  # what has the same axes runs in one process
        for _, command, _, _ in self.rows():
            words = shlex.split(command.strip("`"))
            if words[1] != "run":
                continue
            patterns, options, axes = [], [], {}
            rest = iter(words[2:])
            for word in rest:
                if word == "--axis":
                    name, values = next(rest).split("=", 1)
                    axes[name] = values.split(":")[0].split(",")[0] if name == "size" else values
                elif word.startswith("--"):
                    options += [word] if word in ("--steps", "--native") else [word, next(rest)]
                else:
                    patterns.append(word)
            if not options and "options" not in axes:  # the device lanes run each kernel at many points: that it has this one is left to ask
                self.assertIn("no device matches 'nosuch'", self.lab(*words[1:], "--device", "nosuch", status=3)[1])
                continue
            sizes = next(s for pattern, s in SIZES.items() if fnmatch.fnmatchcase(patterns[0] + ("_" if "_" not in patterns[0] else ""), pattern))
            # What a simulator gets in seconds is soon done everywhere.
            pattern = next(p for p in SIZES if SIZES[p] is sizes)
            small = dict(a.split("=", 1) for a in (INSTEAD["oclgrind"].get(pattern) or sizes["tiny"] or sizes["small"])[0])
            small = {name: values.split(",")[0] for name, values in small.items()}
            family = patterns[0].split("_")[0]
            of = self.variants_with(family)
            small = {name: value for name, value in small.items() if of[name] is None or patterns == [family] or of[name] & set(patterns)}
            key = (family, tuple(sorted((small | axes).items())), tuple(options))
            together.setdefault(key, set()).update(patterns)
        for (_, axes, options), patterns in sorted(together.items()):
            with self.subTest(" ".join(sorted(patterns)), axes=axes):
                self.lab("run", *sorted(patterns), "--device", "cpu", "--verify", "--no-dumps", "--json", "r.jsonl", "--force", *options,
                         *[word for name, values in axes for word in ("--axis", f"{name}={values}")])
                for record in self.records():
                    self.assertIn(record["status"], ("ok", "unsupported"), record["reason"])

    def test_the_code_of_every_row_can_be_made(self):
        listed = self.lab("isa", "--targets")[0]
        columns = [re.split(r"  +", line) for line in listed.splitlines() if line.strip()]
        made = {column[0] for column in columns if column[1] != "-"}
        targets = set()
        for _, command, _, _ in self.rows():
            words = shlex.split(command.strip("`"))
            if words[1] != "isa":
                continue
            target = words[words.index("--target") + 1]
            targets.add(target)
            if target in made:
                with self.subTest(command):
                    self.lab(*words[1:], *([] if "--summary" in words else ["--summary"]))
        self.assertLessEqual(targets, {column[0] for column in columns})


if __name__ == "__main__":
    main()
