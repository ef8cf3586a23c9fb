"""`cllab run --baseline` and `cllab regress`: what became slower, wrong, new or gone, and the exit status that says so."""
import json
import re
import shutil
import tempfile
import unittest
import xml.etree.ElementTree as xml

import lab
from lab import LabTest, against_noise, words

KERNELS = ["pitch_loop", "pitch_short8", "pitch_vload8"]
SIZE = ["--axis", "width=512", "--axis", "height=256"]

# pitch_loop does the work of pitch_loop twice.
SLOWED = """
#ifdef PITCH_LOOP
#define pitch_loop pitch_loop_once
#endif
%s
#ifdef PITCH_LOOP
#undef pitch_loop
kernel void pitch_loop(global const uchar* src, global uchar* dst, int width, int left, int top, int right, int bottom, int n,
                       short f, short c) {
    for (int again = 0; again < 2; ++again) pitch_loop_once(src, dst, width, left, top, right, bottom, n, f, c);
}
#endif
"""


class BaselineTest(LabTest):
    """What a baseline is made of is measured again by each `regress`, so the tests of a class copy one baseline."""
    made = None

    def copy_baseline(self, *command):
        if self.made is None:
            self.lab(*command, "--device", "cpu", "--no-dumps", "--no-yardstick", "--baseline", "base")
            type(self).made = tempfile.mkdtemp(prefix="cllab-test-")
            self.addClassCleanup(shutil.rmtree, self.made, ignore_errors=True)
            shutil.copytree(self.folder / "base", self.made, dirs_exist_ok=True)
        else:
            shutil.copytree(self.made, self.folder / "base")


class Regress(BaselineTest):
    def setUp(self):
        super().setUp()
        self.cl = self.kernels()
        self.pitch = self.cl / "pitch.cl"
        self.text = self.pitch.read_text()

    def baseline(self):
        self.copy_baseline("run", *KERNELS, *SIZE, "--cl-dir", "cl")

    def regress(self, *more, status=0):
        out, err = self.lab("regress", "base", "--max-time", "15", "--json", "cells.jsonl", "--force", *more, status=status, timeout=400)
        lines = self.records("cells.jsonl")
        return {line["id"]: line for line in lines if "id" in line}, lines[-1], out, err

    def test_a_baseline_keeps_records_and_each_text_once_by_its_hash(self):
        self.baseline()
        records = [json.loads(line) for line in (self.folder / "base" / "records.jsonl").read_text().splitlines()]
        self.assertEqual([r["id"] for r in records], KERNELS)
        texts = sorted(p.stem for p in (self.folder / "base" / "text").iterdir())
        self.assertEqual(texts, sorted({r["build"]["source_sha256"] for r in records}))
        self.assertEqual(len(texts), 1)
        _, err = self.lab("run", "pitch_loop", *SIZE, "--device", "cpu", "--no-dumps", "--baseline", "base", status=2)
        self.assert_one_sentence(err, "records.jsonl", "--baseline", "already exists")

    def test_no_change_or_only_a_comment_is_same_code_and_status_0(self):
        self.baseline()
        cells, _, out, _ = self.regress()
        self.assertEqual({c["change"] for c in cells.values()}, {"same code"}, out)
        self.pitch.write_text("// a comment\n" + self.text.replace("{", "{  // and another\n", 1))
        cells, whole, out, _ = self.regress()
        self.assertEqual({c["change"] for c in cells.values()}, {"same code"}, out)
        self.assertNotEqual(cells["pitch_loop"]["baseline_sha256"], cells["pitch_loop"]["today_sha256"])
        self.assertEqual(whole["tested"], 0)

    def change_records(self, change):
        path = self.folder / "base" / "records.jsonl"
        records = [json.loads(line) for line in path.read_text().splitlines()]
        for record in records:
            change(record)
        path.write_text("".join(json.dumps(record) + "\n" for record in records))

    def test_equal_text_with_other_machine_code_has_its_own_verdict(self):
        """As after a change of the driver: it was `same code` and status 0, whatever the times were."""
        self.baseline()

        def other_compiler(record, factor):
            record["code"]["fingerprint"] = "0" * len(record["code"]["fingerprint"])
            for key in ("median", "low", "high", "min", "q1", "q3", "mad"):
                if key in record["time"]:
                    record["time"][key] *= factor
            record["samples"] = [factor * s for s in record["samples"]]

        self.change_records(lambda record: other_compiler(record, 0.1))
        for more in ([], ["--recorded"]):
            cells, _, out, _ = self.regress(*more, "--columns", "recorded,today", status=4)
            self.assertEqual({c["change"] for c in cells.values()}, {"other code"}, out)
            self.assertEqual({c["lean"] for c in cells.values()}, {"all slower"}, out)
            self.assertRegex(words(out), r"same text, other machine code than on \d{4}-\d\d-\d\d: [\d.]+ [um]s then, [\d.]+ [um]s now")
            self.assertRegex(out, r"recorded.*today")
        self.change_records(lambda record: other_compiler(record, 100))  # ten times as long as today
        cells, _, out, _ = self.regress("--junit", "j.xml", status=5)
        self.assertEqual({c["change"] for c in cells.values()}, {"other code"}, out)
        self.assertEqual(xml.parse(self.folder / "j.xml").getroot().get("failures"), "3")
        self.regress("--allow-new-compiler", status=0)

    def test_an_edit_does_not_hide_another_compiler(self):
        """A comment made the cell `same code`, status 0, by the baseline's text as today's compiler takes it."""
        self.baseline()
        self.change_records(lambda record: record["code"].update(fingerprint="0" * len(record["code"]["fingerprint"])))
        path = self.cl / "pitch.cl"
        path.write_text(path.read_text() + "// later\n")
        cells, _, out, _ = self.regress(status=None)
        self.assertEqual({c["change"] for c in cells.values()}, {"other code"}, out)
        cells, _, out, _ = self.regress("--allow-new-compiler", status=0)
        self.assertEqual({c["change"] for c in cells.values()}, {"same code"}, out)

    def test_other_driver_with_incomparable_code_is_no_pass(self):
        self.baseline()

        def unknown(record):
            del record["code"]["fingerprint"]
            record["device"]["driver"] = "another"

        self.change_records(unknown)
        cells, _, out, _ = self.regress(status=None)
        self.assertEqual({c["change"] for c in cells.values()}, {"other code"}, out)
        self.assertIn("machine code that cannot be compared", words(out))

    def test_far_slower_cell_is_slower_with_few_replicates(self):
        """443 ns against 0.38 s was undecided with status 0: the slower, the fewer arrangements fit."""
        text = "/*cllab\naxis n = 64\narg y = out:n\narg loops = %s\nglobal n\n*/\nkernel void k(global uint* y, int loops) {\n    uint v = get_global_id(0);\n" \
               "    for (int i = 0; i < loops * %d; ++i) v = v * 1664525u + 1013904223u;\n    y[get_global_id(0)] = v;\n}\n"
        (self.folder / "k.cl").write_text(text % ("1", 1))
        self.lab("run", "k.cl", "--device", "cpu", "--no-dumps", "--no-yardstick", "--baseline", "slow")
        (self.folder / "k.cl").write_text(text % ("1", 1_000_000))
        out, _ = self.lab("regress", "slow", "--max-time", "2", "--results-may-change", status=4, timeout=400)
        self.assertRegex(out, r"k_k +slower")

    @against_noise
    def test_only_slower_kernel_is_reported_and_the_status_is_4(self):
        self.baseline()
        self.pitch.write_text(SLOWED % self.text)
        cells, whole, out, _ = self.regress("--junit", "j.xml", "--markdown", "s.md", status=4)
        self.assertRegex((self.folder / "s.md").read_text(), r"(?s)\A\*\*1 slower, 2 same code\*\*\n.*\n\| cell \| change \|.*\n\| pitch_loop \| slower \| \+[^\n]*\n"
                         r"(?!\|).*<details><summary>2 with the same code</summary>\n\npitch_short8, pitch_vload8\n\n</details>\n\Z")
        self.assertEqual({i: c["change"] for i, c in cells.items()},
                         {"pitch_loop": "slower", "pitch_short8": "same code", "pitch_vload8": "same code"}, out)
        self.assertGreater(cells["pitch_loop"]["ratio"]["low"], 1.02)
        self.assertEqual(next(iter(cells)), "pitch_loop", "the worst comes first")
        self.assertEqual(whole["tested"], 1)
        self.assertIn("load", whole["conditions"])
        self.assertTrue(all(a["same_memory"] for a in cells["pitch_loop"]["arrangements"]))
        self.assertIn("false alarm", words(out))
        suite = xml.parse(self.folder / "j.xml").getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("3", "1", "0"))
        self.assertIn("pitch_loop", suite.find("testcase[failure]").get("name"))

    def test_wrong_new_and_vanished_cells_are_reported(self):
        self.baseline()
        path = self.folder / "base" / "records.jsonl"
        lines = path.read_text().splitlines()
        gone = json.loads(lines[0])
        gone.update(id="pitch_removed", variant="removed")
        path.write_text("\n".join([json.dumps(gone), *lines[1:]]) + "\n")
        self.pitch.write_text(self.text + "\n#ifdef PITCH_SHORT8\n#error broken\n#endif\n")
        cells, _, out, _ = self.regress(status=1)
        self.assertEqual({i: c["change"] for i, c in cells.items()},
                         {"pitch_short8": "newly failing", "pitch_removed": "vanished", "pitch_loop": "new", "pitch_vload8": "same code"}, out)
        self.assertIn("broken", cells["pitch_short8"]["reason"])
        cells, _, _, _ = self.regress("pitch_vload8")  # leaves the others out of it
        self.assertEqual(list(cells), ["pitch_vload8"])

    def test_changed_or_missing_baseline_text_is_refused(self):
        self.baseline()
        text, = (self.folder / "base" / "text").iterdir()
        content = text.read_text()
        text.write_text("// something else")
        _, err = self.lab("regress", "base", status=2)
        self.assert_one_sentence(err, text.name, "its hash differs")
        text.unlink()
        _, err = self.lab("regress", "base", status=2)
        self.assert_one_sentence(err, text.name, "cannot be read")
        text.write_text(content)
        with (self.folder / "base" / "records.jsonl").open("a") as records:
            records.write('{"schema": 2, "id": "pit')
        _, err = self.lab("regress", "base", status=2)
        self.assert_one_sentence(err, "the baseline 'base' is damaged", "records.jsonl:4")

    def test_baseline_files_are_never_outputs_even_with_force(self):
        self.baseline()
        before = {p: p.read_bytes() for p in (self.folder / "base").rglob("*") if p.is_file()}
        (self.folder / "link").symlink_to("base/records.jsonl")
        for path in ("base/records.jsonl", "link", *(p for p in before if p.suffix == ".cl")):
            for option in ("--json", "--junit"):
                _, err = self.lab("regress", "base", option, path, "--force", status=2)
                self.assert_one_sentence(err, "is also the input", option)
        self.assertEqual({p: p.read_bytes() for p in before}, before)

    def test_stored_times_of_one_run_claim_nothing_and_are_no_pass(self):
        self.baseline()
        # A baseline that is five times as fast: whatever disturbs the runs of this test is less.
        path = self.folder / "base" / "records.jsonl"
        records = [json.loads(line) for line in path.read_text().splitlines()]
        for record in (r for r in records if r["id"] == "pitch_loop"):
            record["time"] = {k: v / 5 if k in ("median", "low", "high", "min", "q1", "q3", "mad") else v for k, v in record["time"].items()}
            record["samples"] = [s / 5 for s in record["samples"]]
            record.pop("aside", None)
        path.write_text("".join(json.dumps(r) + "\n" for r in records))
        self.pitch.write_text(SLOWED % self.text)
        cells, whole, out, _ = self.regress("--recorded", status=5)
        self.assertEqual(cells["pitch_loop"]["change"], "undecided", out)
        if "ratio" in cells["pitch_loop"]:
            self.assertGreater(cells["pitch_loop"]["ratio"]["ratio"], 2)
            self.assertRegex(cells["pitch_loop"]["reason"], r"too few for a verdict; `cllab run .*--baseline base --append` adds one$")
        else:
            self.assertRegex(cells["pitch_loop"]["reason"], "^in every run of (the baseline|today) other processes had its cores$")
        self.assertTrue(whole["recorded"])
        self.assertIn("weaker claim", words(out))

    def test_change_in_any_kernel_of_an_operation_changes_its_code(self):
        def code_of(kernel):
            self.lab("run", kernel, "--device", "cpu", "--cl-dir", "cl", "--no-dumps", "--no-yardstick", "--max-time", "0.05", "--json", "c.jsonl", "--force",
                     *(["--axis", "size=64Ki"] if kernel.startswith("reduce") else ["--axis", "images=1"]))
            return self.records("c.jsonl")[0]["code"]["fingerprint"]

        two_passes = "reduce_tree4"
        path = self.cl / "reduce.cl"
        text = path.read_text()
        before = code_of(two_passes)
        path.write_text("// a comment\n" + text)
        self.assertEqual(code_of(two_passes), before)
        path.write_text(text.replace("for (uint i = get_local_id(0); i < count; i += get_local_size(0)) value += partial[i];",
                                     "for (uint i = get_local_id(0); i < count; i += get_local_size(0)) value += partial[i] ^ (i >> 31);", 1))
        self.assertNotEqual(code_of(two_passes), before)
        # No kernel of this one has the variant's name.
        self.assertRegex(code_of("batchnorm_channel_three"), "^[0-9a-f]{64}$")

    def test_invalid_baseline_is_refused_in_one_sentence(self):
        _, err = self.lab("regress", "nothing", status=2)
        self.assert_one_sentence(err, "'nothing' is not a baseline", "--baseline DIR")
        _, err = self.lab("regress", "x", "--threshold", "-3", status=2)
        self.assert_one_sentence(err, "--threshold", "-3", "from 0 to 100")


TABLE = """#include "trips.h"
/*cllab
arg src = rand:float:65536
arg dst = out:65536
arg gain = 2
arg from = rand:float:65536
arg to = out:65536
arg by = 3
global 65536
local 64
*/
__constant float table[2] = {0.5f, 0.25f};
__kernel void scale(__global const float* src, __global float* dst, float gain) {
    size_t i = get_global_id(0);
    float v = src[i];
    for (int t = 0; t < TRIPS; ++t) v = v * gain + table[t & 1];
    dst[i] = v;
}
__kernel void copy(__global const float* from, __global float* to, float by) { to[get_global_id(0)] = from[get_global_id(0)] * by; }
"""


class KernelFile(BaselineTest):
    def setUp(self):
        super().setUp()
        self.write("trips.h", "#define TRIPS 100\n")
        self.write("k.cl", TABLE)
        self.copy_baseline("run", "k.cl", "--max-time", "0.1")

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def regress(self, *more, status):
        out, err = self.lab("regress", "base", *more, "--max-time", "5", "--json", "cells.jsonl", "--force", status=status, timeout=400)
        lines = self.records("cells.jsonl")
        return {line["id"]: line for line in lines if "id" in line}, out + err

    def test_baseline_holds_included_files_and_detects_their_changes(self):
        text, = (self.folder / "base" / "text").iterdir()
        self.assertIn("#define TRIPS 100", text.read_text())
        cells, out = self.regress(status=0)
        self.assertEqual({c["change"] for c in cells.values()}, {"same code"}, out)
        # Twice the trips, the same results: the terms beyond the first hundred are nothing.
        self.write("trips.h", "#define TRIPS (100 + 100 * (gain < 3))\n")
        self.write("k.cl", TABLE.replace("v = v * gain + table[t & 1]", "v = t < 100 ? v * gain + table[t & 1] : v + (gain > 3)"))
        cells, out = self.regress(status=4)
        self.assertEqual({i: c["change"] for i, c in cells.items()}, {"k_scale": "slower", "k_copy": "same code"}, out)

    def test_changed_header_alone_changes_the_text(self):
        self.write("trips.h", "#define TRIPS 200\n")
        cells, out = self.regress("k.cl:scale", status=4)
        self.assertEqual({i: c["change"] for i, c in cells.items()}, {"k_scale": "other results"}, out)
        self.assertNotEqual(cells["k_scale"]["baseline_sha256"], cells["k_scale"]["today_sha256"])
        (self.folder / "link").symlink_to(self.folder)
        cells, out = self.regress("link/k.cl:copy", status=0)
        self.assertEqual({i: c["change"] for i, c in cells.items()}, {"k_copy": "same code"}, out)

    def test_changed_constant_gives_other_results_unless_allowed(self):
        self.write("k.cl", TABLE.replace("0.25f", "0.75f"))
        cells, out = self.regress("k.cl", status=4)
        self.assertEqual(cells["k_scale"]["change"], "other results", out)
        self.assertNotIn("today", cells["k_scale"]["figures"], "a wrong kernel has no time")
        self.assertRegex(cells["k_scale"]["reason"], r"today's text gives other results than the baseline's: .*dst\[\d+\] is \S+,? of .* \S+")
        self.assertNotIn("not deterministic", out)
        self.assertIn("; --results-may-change compares the times all the same", cells["k_scale"]["reason"])
        _, out = self.regress("k.cl:scale", "--results-may-change", "--threshold", "50", status=0)

    def test_another_tolerance_is_not_another_cell(self):
        for tolerance, change in (("1e-9", "other results"), ("1e-3", "same code")):
            with self.subTest(tolerance=tolerance):
                self.write("k.cllab", f"tolerance relative={tolerance}\n")
                self.write("k.cl", TABLE.replace("0.25f", "0.25001f") if change == "other results" else TABLE)
                cells, out = self.regress("k.cl:scale", status=4 if change == "other results" else 0)
                self.assertEqual(cells["k_scale"]["change"], change, out)

    def test_other_arguments_sizes_groups_or_data_are_another_cell(self):
        for change in (("arg gain = 2", "arg gain = 1"), ("local 64", "local 32"), ("rand:float:65536", "zero:float:65536")):
            with self.subTest(change=change):
                self.write("k.cl", TABLE.replace(*change))
                cells, out = self.regress("k.cl:scale", status=5)
                self.assertEqual(cells["k_scale"]["change"], "incomparable", out)
                self.assertIn("arguments, sizes, groups or data", cells["k_scale"]["reason"])

    def test_file_that_no_longer_builds_is_newly_failing(self):
        self.write("trips.h", "#error no trips\n")
        cells, out = self.regress(status=1)
        self.assertEqual({c["change"] for c in cells.values()}, {"newly failing"}, out)
        self.assertIn("no trips", out)

    def test_other_files_are_compared_if_one_does_not_build_or_is_missing(self):
        guessed = "__kernel void twice(__global float* b, int n) { int i = get_global_id(0); if (i < n) b[i] *= 2; }\n"
        self.write("g.cl", guessed)
        shutil.rmtree(self.folder / "base")
        self.lab("run", "k.cl:copy", "g.cl", "--device", "cpu", "--no-dumps", "--max-time", "0.1", "--baseline", "base")
        for change, text in (("newly failing", guessed.replace("*= 2", "*= two + three + two + " + " + ".join("v" * n for n in range(1, 7)))), ("incomparable", None)):
            with self.subTest(change=change):
                self.write("g.cl", text) if text else (self.folder / "g.cl").unlink()
                cells, out = self.regress(status=1 if text else 5)
                self.assertEqual({i: c["change"] for i, c in cells.items()}, {"k_copy": "same code", "g_twice": change}, out)
                self.assertIn("'g.cl' does not build: g.cl:1:" if text else "'g.cl', a file of the baseline, is missing", cells["g_twice"]["reason"])
                if text:  # each error once, up to five
                    self.assertEqual(re.findall(r"undeclared identifier '(\w+)'", cells["g_twice"]["reason"]), ["three", "two", "v", "vv", "vvv"])
                    self.assertTrue(cells["g_twice"]["reason"].endswith(" and 3 more"), cells["g_twice"]["reason"])

    def test_header_found_only_by_the_driver_is_named_and_incomparable(self):
        self.write("k.cl", "#define HEADER <trips.h>\n#include HEADER\n" + TABLE.partition("\n")[2])
        _, err = self.lab("run", "k.cl", "-I", ".", "--device", "cpu", "--no-dumps", "--no-yardstick", "--max-time", "0.1", "--baseline", "other")
        self.assertIn("the baseline does not contain HEADER", err)
        self.assertEqual(json.loads((self.folder / "other" / "records.jsonl").read_text().splitlines()[0])["build"]["elsewhere"], ["HEADER"])
        self.write("trips.h", "#define TRIPS 200\n")
        out, _ = self.lab("regress", "other", status=5)
        self.assertRegex(words(out), r"k_scale incomparable .* the baseline does not contain HEADER, .* k_copy same code")
        self.write("trips.h", "#error no trips\n")
        self.lab("regress", "other", "k_copy", status=1)

    def test_equal_code_with_other_arguments_may_have_a_winner(self):
        self.write("two.cl", """/*cllab
arg src_a = zero:float:4096
arg dst_a = out:4096
arg src_b = zero:float:4096
arg dst_b = out:4096
global 4096
kernel a
arg r = 1
kernel b
arg r = 400
*/
""" + "".join(f"""__kernel void {name}(__global const float* src_{name}, __global float* dst_{name}, int r) {{
    float v = src_{name}[get_global_id(0)];
    for (int i = 0; i < r; ++i) v = v * 0.5f + 1;
    dst_{name}[get_global_id(0)] = v;
}}
""" for name in "ab"))
        out, _ = self.lab("run", "two.cl:a", "--vs", "two.cl:b", "--device", "cpu", "--no-yardstick", "--max-time", "2", "--json", "r.jsonl")
        self.assertEqual(len({r["code"]["fingerprint"] for r in self.records() if "id" in r}), 1)
        self.assertNotIn("same code", out)
        self.assertIn("faster", out)


if __name__ == "__main__":
    lab.main()
