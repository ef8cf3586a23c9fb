"""`cllab why FILE --on PROFILE.json`: the least time of a kernel on a device that is not here, by the profile of that device alone."""
import json

from lab import SOURCE, LabTest, main, words
from test_why import figure


class Forecast(LabTest):
    def far_profile(self, *figures, **device):
        """A profile of a device that is not here, of the rates that an H200 has."""
        of = {"selector": "0:0", "platform": "NVIDIA CUDA", "name": "NVIDIA H200", "vendor": "NVIDIA Corporation", "driver": "580", "type": "gpu"} | device
        figures = figures or [figure("bandwidth.copy", "copy bandwidth", "B/s", 4.03e12), figure("bandwidth.streamed", "streamed", "byte", 1e8),
                              figure("fma.peak.float", "float peak", "FLOP/s", 6e13), figure("fma.units", "compute units", "", 132),
                              figure("launch.empty.item", "empty kernel", "s", 5e-6), figure("dispatch.group.rate", "group rate", "group/s", 1.65e9)]
        (self.folder / "far.json").write_text(json.dumps({"schema": 2, "device": of, "utc": "2026-01-01T00:00:00Z", "figures": figures}))

    def forecast(self, text, *more):
        """The page and the line of a forecast, on a machine without any device."""
        (self.folder / "k.cl").write_text(text)
        (self.folder / "none").mkdir(exist_ok=True)
        page, err = self.lab("why", "k.cl", "--on", "far.json", "--json", "f.jsonl", "--force", *more, status=None,
                             env=self.environment(OCL_ICD_VENDORS=str(self.folder / "none")))
        if "was not built" in err or "not installed" in err:
            self.skipTest(err)
        lines = self.records("f.jsonl") if (self.folder / "f.jsonl").exists() else []
        return words(page), lines, err

    COPY = "kernel void copy(global const float* restrict x, global float* restrict y) { y[get_global_id(0)] = x[get_global_id(0)]; }\n"
    SIZES = ["--arg", "x=rand:16777216", "--arg", "y=out:16777216", "--global", "16777216", "--local", "256"]

    def test_a_forecast_needs_no_device_and_is_what_one_works_out_by_hand(self):
        self.far_profile()
        page, (line,), _ = self.forecast(self.COPY, *self.SIZES)
        # 2 x 64 MiB at 4.03 TB/s are 33.3 us; 65536 groups at 1.65 G/s are 39.7 us.
        bounds = {b["id"]: b for b in line["bounds"]}
        self.assertAlmostEqual(bounds["memory"]["seconds"], 2 * (64 << 20) / 4.03e12, delta=1e-9)
        self.assertAlmostEqual(bounds["groups"]["seconds"], 65536 / 1.65e9, delta=1e-9)
        self.assertEqual((line["record"], line["limiters"], line["seconds"]), ("forecast", ["groups", "memory"], bounds["groups"]["seconds"]))
        self.assertIn("NVIDIA H200, by its profile of 2026-01-01T00:00:00Z", page)
        self.assertIn("A forecast is a lower bound: by a profile of a quiet device, a launch takes that or longer.", page)
        self.assertIn("at least 39.7 us; group dispatch or memory bandwidth would limit it", page)
        self.assertRegex(page, r"134 MB at 4.03 TB/s \(copy bandwidth\), counted by simulation of \d+ of 65536 groups")

    def test_arithmetic_of_a_forecast_is_not_sure(self):
        self.far_profile()
        text = ("kernel void f(global float* x) { float v = x[get_global_id(0)]; for (int k = 0; k < 1000; ++k) v = fma(v, 0.5f, 1.0f); "
                "x[get_global_id(0)] = v; }\n")
        page, (line,), _ = self.forecast(text, "--arg", "x=rand:1048576", "--global", "1048576", "--local", "256")
        self.assertAlmostEqual(line["seconds_as_written"] / (2000 * 1048576 / 6e13), 1, places=2)
        self.assertLess(line["seconds"], 6e-6)
        self.assertIn("if the compiler keeps what the text computes; float arithmetic would limit it", page)

    def test_what_a_kernel_declares_and_what_is_counted_are_both_said_where_they_contradict(self):
        self.far_profile()
        page, (line,), _ = self.forecast(self.COPY, *self.SIZES, "--work", "bytes=16*16777216")
        said = "268 MB are declared, and its work-items ask for 134 MB at the most, counted by simulation of"
        self.assertIn(said, line["contradictions"][0])
        self.assertIn("contradiction: " + said, page)

    def test_what_is_declared_changes_no_forecast(self):
        self.far_profile()
        # Columns, of which two neighbouring groups share each sector: half of what groups far apart touch.
        text = "kernel void flip(global const float* restrict x, global float* restrict y) { int i = get_global_id(0), j = get_global_id(1); y[j * 4096 + i] = x[i * 4096 + j]; }\n"
        sizes = [*self.SIZES[:4], "--global", "4096,4096", "--local", "64,4"]
        found = [self.forecast(text, *sizes, *more)[1][0]["bounds"] for more in ([], ["--work", "bytes=8*16777216"])]
        self.assertEqual(*found)
        memory = next(b for b in found[0] if b["id"] == "memory")
        self.assertLessEqual(memory["seconds"], 2 * (64 << 20) / 4.03e12)

    def test_a_forecast_that_is_not_possible_says_why_in_one_sentence(self):
        self.far_profile()
        old = json.loads((SOURCE / "dumps" / "reference" / "NVIDIA-H100" / "profile.json").read_text()) | {"schema": 1}
        (self.folder / "old.json").write_text(json.dumps(old))
        (self.folder / "damaged.json").write_text('{"schema": 2, "device": ')
        (self.folder / "k.cl").write_text(self.COPY)
        for more, parts in [(["--device", "cpu"], ["'--device' cannot stand beside --on"]), (["--test"], ["'--test'"]), (["--max-time", "1"], ["'--max-time'"]),
                            (["--count-budget", "0"], ["'--count-budget'"]), (["--on", "none.json"], ["'none.json' cannot be read"]),
                            (["--on", "old.json"], ["has schema 1; this build reads schema 2"]), (["--on", "damaged.json"], ["'damaged.json' is damaged"])]:
            with self.subTest(more=more):
                words_of = ["why", "k.cl", *self.SIZES, *([] if "--on" in more else ["--on", "far.json"]), *more]
                self.assert_one_sentence(self.lab(*words_of, status=2)[1], *parts)
        _, err = self.lab("why", "muladd_fma", "--on", "far.json", status=2)
        self.assert_one_sentence(err, "'muladd_fma' is the lab's own", "`cllab why FILE.jsonl`")
        self.far_profile(figure("bandwidth.copy", "copy bandwidth", "B/s", 4e12))
        self.assert_one_sentence(self.lab("why", "k.cl", *self.SIZES, "--on", "far.json", status=2)[1], "how many compute units")

    def test_a_kernel_that_cannot_be_counted_has_no_forecast(self):
        self.far_profile()
        text = "kernel void k(global float* x) { while (x[0] < 2) x[get_global_id(0)] += 0; }\n"
        page, lines, err = self.forecast(text, "--arg", "x=zero:1024", "--global", "1024", "--local", "256", "--count-budget", "0.5")
        self.assertEqual(lines, [])
        self.assertIn("k: no forecast: ", err)


if __name__ == "__main__":
    main()
