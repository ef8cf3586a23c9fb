"""Several devices and several machines: the table of variants by devices, and the records of many runs joined."""
import json
import re
import shutil
import subprocess
import unittest

from lab import OCLGRIND_LIBRARY, LabTest, words

SMALL = ["--axis", "items=64", "--max-time", "0.05", "--no-dumps", "--no-yardstick"]  # the yardstick takes seconds where caches are large

# From a short one to one that no page holds in a line, in words and in one piece.
DEVICE_NAMES = ["gfx90", "pthread-skylake-avx512-Intel(R) Xeon(R) Processor", "a " * 60 + "b", "x" * 120]

# Stands in front of the loader and crashes in the driver's name when the simulator is to give a context.
CRASH = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
typedef int Info(void*, unsigned, unsigned long, void*, unsigned long*);
typedef void* Create(const void*, unsigned, void* const*, void*, void*, int*);
void* clCreateContext(const void* properties, unsigned n, void* const* devices, void* notify, void* data, int* error) {
    char name[256] = "";
    ((Info*)dlsym(RTLD_NEXT, "clGetDeviceInfo"))(devices[0], 0x102B, sizeof name, name, 0);
    if (strstr(name, "Oclgrind")) abort();
    return ((Create*)dlsym(RTLD_NEXT, "clCreateContext"))(properties, n, devices, notify, data, error);
}
"""


# Gives PoCL's device, platform and driver the names that a terminal would act upon.
NAMES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
typedef int Info(void*, unsigned, unsigned long, void*, unsigned long*);
static const char nasty[] = "x\x1b[2J\a\r\xc2\x9b" "31m\xe2\x80\xae\xff\nz";
static int give(unsigned long room, void* to, unsigned long* size) {
    if (to && room >= sizeof nasty) memcpy(to, nasty, sizeof nasty);
    if (size) *size = sizeof nasty;
    return 0;
}
int clGetDeviceInfo(void* device, unsigned what, unsigned long room, void* to, unsigned long* size) {
    if (what == 0x102B || what == 0x102C || what == 0x102D) return give(room, to, size);
    return ((Info*)dlsym(RTLD_NEXT, "clGetDeviceInfo"))(device, what, room, to, size);
}
"""


class Devices(LabTest):
    """PoCL and Oclgrind side by side."""

    def two(self, **changes):
        self.assertIsNotNone(OCLGRIND_LIBRARY, "Oclgrind's library is not there; apt-get install oclgrind")
        vendors = self.folder / "vendors"
        vendors.mkdir()
        shutil.copy("/etc/OpenCL/vendors/pocl.icd", vendors)
        (vendors / "oclgrind.icd").write_text(f"{OCLGRIND_LIBRARY}\n")
        return self.environment(OCL_ICD_VENDORS=str(vendors), **changes)

    def test_all_devices_end_with_one_table_of_variants_by_devices(self):
        out, err = self.lab("run", "muladd_[!l]*", "--device", "all", *SMALL, "--json", "r.jsonl", env=self.two())
        self.assertEqual(err, "")
        tables, by_device = out.split("\nVariants by devices")
        self.assertIn("Oclgrind Simulator (", tables)
        self.assertRegex(words(by_device), r" [AB] Oclgrind Simulator \(\d:0\), Oclgrind, driver [^;]*; simulated, so not ranked ")
        for kernel in ("muladd_fma", "muladd_mad"):
            self.assertRegex(by_device, rf"\n  {kernel} .* [num]?s .* [num]?s")
        self.assertEqual(len({r["device"]["name"] for r in self.records()}), 2)

    def test_one_device_has_no_table_by_device(self):
        out, _ = self.lab("run", "muladd_[!l]*", "--device", "all", *SMALL)
        self.assertNotIn("Variants by devices", out)

    def test_driver_names_cannot_move_the_cursor(self):
        (self.folder / "names.c").write_text(NAMES)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "names.so", "names.c", "-ldl"], cwd=self.folder, check=True)
        env = self.environment(LD_PRELOAD=str(self.folder / "names.so"))
        for args in (["devices"], ["run", "muladd_[!l]*", "--device", "cpu", *SMALL], ["run", "muladd_[!l]*", "--device", "cpu", *SMALL, "--csv", "-"],
                     ["run", "muladd_fma", "--vs", "muladd_mad", "--device", "cpu", *SMALL]):
            out, err = self.lab(*args, env=env)
            self.assertNotRegex(out + err, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
            self.assertIn(r"x\x1b[2J\x07\x0d\x9b31m\u202e", out)
        self.assertRegex(self.lab("run", "muladd_[!l]*", "--device", "nosuch", env=env, status=3)[1], r"\Acllab: no device matches 'nosuch'; [^\n]*x\\x1b[^\n]*\n\Z")

    def test_crashing_driver_costs_only_its_column(self):
        (self.folder / "crash.c").write_text(CRASH)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "crash.so", "crash.c", "-ldl"], cwd=self.folder, check=True)
        env = self.two(LD_PRELOAD=str(self.folder / "crash.so"), ASAN_OPTIONS="detect_leaks=0:handle_segv=0:verify_asan_link_order=0")
        out, err = self.lab("run", "muladd_[!l]*", "--device", "all", *SMALL, env=env, status=3)
        self.assertRegex(err, r"\Acllab: device \d:0: [^\n]*SIGABRT[^\n]* before its first cell; the other devices continue\n\Z")
        by_device = out.split("\nVariants by devices")[1]
        self.assertRegex(words(by_device), r"Oclgrind Simulator [^:]*:0\), Oclgrind, driver [^;]*; lost: ")
        self.assertRegex(by_device, r"\n  muladd_fma +\S+ [nu]s .* lost\n  muladd_mad +\S+ [nu]s .* lost\n")
        self.assertRegex(by_device, r"\n  muladd_fma  .*lost")
        # Alone it has no table to save.
        _, err = self.lab("run", "muladd_[!l]*", "--device", "oclgrind", "--isolate", *SMALL, env=env, status=3)
        self.assert_one_sentence(err, "SIGABRT")


class Records(LabTest):
    """report, on the records of one small run."""

    @classmethod
    def setUpClass(cls):
        cls.lines = []

    def setUp(self):
        super().setUp()
        if not self.lines:
            self.lab("run", "muladd_[!l]*", "--device", "cpu", *SMALL, "--json", "r.jsonl")
            self.lines.extend((self.folder / "r.jsonl").read_text().splitlines())
        self.write("r.jsonl", self.lines)
        # The same run on another node, under Slurm or not.
        self.write("other.jsonl", [json.dumps(json.loads(line) | {"host": {"name": "node2"}}) for line in self.lines])

    def rename(self, device):
        """Both files as a device of this name would have written them."""
        for name in ("r.jsonl", "other.jsonl"):
            records = self.records(name)
            for record in records:
                record["device"] |= {"name": device, "driver": "9.9", "selector": "0:0"}
            self.write(name, map(json.dumps, records))

    def write(self, name, lines):
        (self.folder / name).write_text("".join(line + "\n" for line in lines))

    def rows(self, *files):
        """How many records `report` takes of these files."""
        return len(self.lab("report", *files, "--csv", "-")[0].splitlines()) - 1

    def test_repeated_record_is_taken_once(self):
        self.assertEqual(self.rows("r.jsonl", "other.jsonl", "r.jsonl"), 4)
        self.write("all.jsonl", [*self.lines, *(self.folder / "other.jsonl").read_text().splitlines(), *self.lines])
        self.assertEqual(self.rows("all.jsonl"), 4)

    def test_damaged_and_unknown_lines_are_reported_and_skipped(self):
        unknown = self.lines[0].replace('"schema":2', '"schema":3')
        self.write("bad.jsonl", [self.lines[0][:99], unknown, "", self.lines[0]])
        self.assertEqual(self.rows("bad.jsonl"), 1)
        _, err = self.lab("report", "bad.jsonl")
        self.assertEqual(err, "cllab: bad.jsonl:1: this is not a record: its JSON is damaged at byte 100 of 99; the line is skipped\n"
                              "cllab: bad.jsonl:2: the record has schema 3; this build reads schemas 1 and 2; the line is skipped\n")

    def test_unrelated_file_does_not_fill_the_screen(self):
        self.write("else.txt", ["what"] * 1000 + self.lines)
        _, err = self.lab("report", "else.txt")
        self.assertEqual(len(err.splitlines()), 21)
        self.assertIn("cllab: 980 more lines are skipped\n", err)

    def test_one_readable_file_suffices_and_none_is_status_2(self):
        out, err = self.lab("report", "absent.jsonl", "r.jsonl", "--csv", "-")
        self.assertEqual(len(out.splitlines()), 1 + len(self.lines))
        self.assertEqual(err, "cllab: file 'absent.jsonl' cannot be read: No such file or directory\n")
        out, err = self.lab("report", "absent.jsonl", ".", status=2)
        self.assertEqual(out, "")
        self.assertIn("'.' cannot be read: Is a directory", err)
        self.assertTrue(err.endswith("cllab: no file can be read\n"), err)
        self.write("empty.jsonl", [])
        self.assert_one_sentence(self.lab("report", "empty.jsonl", status=2)[1], "no record", "'empty.jsonl'")
        self.assert_one_sentence(self.lab("report", status=2)[1], "FILE")

    def test_report_never_overwrites_its_inputs(self):
        _, err = self.lab("report", "other.jsonl", "r.jsonl", "--csv", "./r.jsonl", status=2)
        self.assert_one_sentence(err, "./r.jsonl", "--csv")
        self.assertEqual((self.folder / "r.jsonl").read_text().splitlines(), self.lines)

    def test_report_prints_the_same_as_run(self):
        out, _ = self.lab("run", "muladd_[!l]*", "--device", "cpu", *SMALL[:-1], "--json", "again.jsonl")
        self.assertEqual(self.lab("report", "again.jsonl"), (out, ""))

    def test_report_names_the_kernel_file_like_run(self):
        (self.folder / "my files").mkdir()
        (self.folder / "my files" / "k.cl").write_text("kernel void a(global float* y) { y[get_global_id(0)] = 1; }\n"
                                                       "kernel void b(global float* y) { y[get_global_id(0)] = 1; }\n")
        out, _ = self.lab("run", "my files/k.cl", "--device", "cpu", "--global", "64", "--max-time", "0.02", "--no-dumps", "--json", "k.jsonl")
        self.assertEqual(self.lab("report", "k.jsonl"), (out, ""))
        self.assertRegex(out.replace("\n", " "), r"`cllab run 'my +files/k\.cl:[ab]' +--vs +'my +files/k\.cl:[ab]'")

    def test_report_of_two_nodes_is_side_by_side_and_writes_csv(self):
        for number, name in enumerate(DEVICE_NAMES):
            with self.subTest(device=name):
                self.rename(name)
                table = self.folder / f"{number}.csv"
                out, err = self.lab("report", "r.jsonl", "other.jsonl", "--csv", table)
                self.assertEqual(err, "")
                # Without blanks: a name longer than a line is broken within.
                self.assertIn("".join(f"B {name} (0:0), Portable Computing Language, driver 9.9 on node2".split()), "".join(out.split()))
                self.assertRegex(out, r"\n  kernel +A +B\n  muladd_fma +\S+ [nu]s .*\n  muladd_mad +\S+ [nu]s ")
                self.assertEqual(len(table.read_text().splitlines()), 1 + 4)
                self.assertEqual(self.lab("report", "r.jsonl", "other.jsonl", "--csv", "-")[0], table.read_text())

    def test_repeated_cell_is_no_curve_and_a_sweep_is_one(self):
        cells = [json.loads(line) for line in self.lines]
        for name, places in (("repeated", (1, 1, 1)), ("swept", (1, 2, 3))):
            self.write(f"{name}.jsonl", [json.dumps(cells[0] | {"id": "bandwidth_copy", "family": "bandwidth", "variant": "copy", "utc": str(i),
                                                                "point": {"size": size, "width": 16}}) for i, size in enumerate(places)])
        self.assertEqual(self.lab("report", "repeated.jsonl")[0].count("\n  bandwidth_copy  ok "), 3)
        self.assertIn("bandwidth_copy: ", self.lab("report", "swept.jsonl")[0])

    def test_points_of_curves_are_side_by_side(self):
        record = json.loads(self.lines[0]) | {"id": "bandwidth_copy", "family": "bandwidth", "variant": "copy"}
        for node in ("a", "b"):
            self.write(f"{node}.jsonl", [json.dumps(record | {"host": {"name": node}, "point": {"size": n, "width": 16}}) for n in (64, 128, 256, 512)])
        curves, by_device = self.lab("report", "a.jsonl", "b.jsonl")[0].split("\nVariants by devices")
        self.assertRegex(words(curves), r"On [^$]* on a bandwidth_copy: [^$]* On [^$]* on b bandwidth_copy: ")
        self.assertEqual(len(re.findall(r"\n  bandwidth_copy +\d+ ", by_device)), 4)

    def test_records_of_schema_1_are_reported_with_current_ones(self):
        old = [json.loads(line) | {"schema": 1, "host": {"name": "old"}} for line in self.lines]
        for record in old:
            del record["run"]
        self.write("old.jsonl", map(json.dumps, old))
        self.assertEqual(self.rows("old.jsonl", "r.jsonl"), 4)
        self.assertRegex(self.lab("report", "old.jsonl", "r.jsonl")[0], r"\n  A  .*(\n  .*)? on\s+old\n  B  ")

    def test_each_record_has_what_repeating_the_run_needs(self):
        runs = []
        for name in ("a", "b"):
            self.lab("run", "muladd_[!l]*", "--device", "cpu", *SMALL, "--verify", "--isolate", "--seed", "5", "--label", "before it", "--json", f"{name}.jsonl",
                     env=self.environment(POCL_CACHE_DIR=str(self.folder / "cache")))
            runs.append([r["run"] for r in self.records(f"{name}.jsonl")])
        for run in runs:
            self.assertEqual({r["id"] for r in run}, {run[0]["id"]})  # the parent's, in every child process
            self.assertEqual([(r["seed"], r["label"]) for r in run], [(5, "before it")] * 2)
            self.assertEqual([r["order"] for r in run], [{"comparison": 0, "position": i, "prepared": i} for i in (0, 1)])
            self.assertEqual(run[0]["driver_caches"]["POCL_CACHE_DIR"], str(self.folder / "cache"))
        self.assertNotEqual(runs[0][0]["id"], runs[1][0]["id"])
        # Verified only, so without a sample; perhaps within one second: two runs are not one.
        self.assertEqual(self.rows("a.jsonl", "b.jsonl", "a.jsonl"), 4)

    def test_impossible_record_is_reported_and_skipped(self):
        good = json.loads(self.lines[0])
        time = good["time"]
        bad = [good | {"time": time | {"median": -1}}, good | {"time": {k: v for k, v in time.items() if k != "median"}},
               good | {"status": "wrong_result"}, good | {"time": time | {"high": time["median"] / 2}}, good | {"time": time | {"min": 9}},
               good | {"time": time | {"n": 3}}, good | {"status": "fine"}, good | {"schema": 9}]
        lines = [json.dumps(record) for record in bad] + [self.lines[0].replace(json.dumps(time["median"]), "1e999", 1)]
        self.write("bad.jsonl", lines)
        out, err = self.lab("report", "bad.jsonl", status=2)
        self.assertEqual(out, "")
        self.assertRegex(err, r"\A(cllab: bad\.jsonl:\d: [^\n]*; the line is skipped\n){9}cllab: no records found in 'bad\.jsonl'; expected a FILE that `cllab run --json` wrote\n\Z")
        self.write("bad.jsonl", [*lines, self.lines[0]])
        self.assertIn(good["id"], self.lab("report", "bad.jsonl")[0])

    def test_names_in_records_cannot_move_the_cursor(self):
        nasty = "\x1b[2J\x07\r\x9b31m\u202ex\n"
        records = []
        for line in self.lines:
            record = json.loads(line)
            record["device"] |= {"name": nasty, "driver": nasty, "platform": nasty}
            record |= {"warnings": [nasty], "host": {"name": nasty}, "dump": nasty}
            records.append(record)
        self.write("nasty.jsonl", [json.dumps(r) for r in records] + [json.dumps(records[0] | {"status": nasty * 100})])
        for command in (["report", "nasty.jsonl"], ["report", "nasty.jsonl", "--csv", "-"]):
            out, err = self.lab(*command)
            self.assertNotRegex(out + err, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
            self.assertIn(r"\x1b[2J", out)
            self.assertRegex(err, r"\Acllab: nasty.jsonl:3: [^\n]{100,400}\n\Z")

    def test_report_needs_no_platform(self):
        self.lab("report", "r.jsonl", env=self.environment(OCL_ICD_VENDORS=str(self.folder)))

    def test_record_under_slurm_has_the_node_name(self):
        self.lab("run", "muladd_fma", "--device", "cpu", *SMALL, "--verify", "--json", "n.jsonl", env=self.environment(SLURMD_NODENAME="n7"))
        self.assertEqual({r["host"]["name"] for r in self.records("n.jsonl")}, {"n7"})


if __name__ == "__main__":
    unittest.main()
