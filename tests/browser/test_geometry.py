"""Where the parts of the page of `cllab report --html` stand, from a telephone to a wide screen: no half is empty, no text is cut."""

from browser import BrowserTest  # which finds the modules of tests/cli
import made
from lab import main

WIDTHS = (360, 800, 1440, 2560)


class Geometry(BrowserTest):
    def over_an_axis(self):
        """Two variants at four widths, of which one row is disturbed."""
        maker = made.Maker()
        records = [maker.record("pitch", variant, factor * width * 1e-7, point={"width": width}) for width in (64, 256, 1024, 4096) for variant, factor in (("wide", 1), ("roi", 3))]
        records[0]["warnings"] = ["few-cores: others had them"]
        return records

    def test_points_of_one_axis_are_one_curve_with_whiskers(self):
        self.open(self.make(self.over_an_axis()))
        self.assertEqual(self.js("return [document.querySelectorAll('figure.bars').length, document.querySelectorAll('.family figure.chart').length]"), [0, 1])
        self.assertEqual(self.js("return document.querySelectorAll('.family figure.chart path.span').length"), 2)
        self.assertEqual(self.js("return document.querySelector('.family .verdict').textContent").replace("\u200b", ""), "Fastest of 4 points: pitch_wide at 4.")
        for width in WIDTHS:
            self.resize(width)
            last, dots = self.js("""const chart = document.querySelector('.family figure.chart'), texts = Array.from(chart.querySelectorAll('.ticks text')).filter(t => !t.hidden);
                const box = texts.at(-1).getBoundingClientRect(), inner = chart.querySelector('.inner').getBoundingClientRect();
                return [(box.left + box.right) / 2, inner.right]""")
            self.assertLess(abs(dots - last), 0.25 * width, (width, last, dots))

    def test_value_of_a_curve_has_its_interval_and_warnings(self):
        maker = made.Maker()
        records = [maker.record("latency", "global", 2e-9, point={"footprint": 2**k}) for k in range(12, 20)]
        records[0] = maker.record("latency", "global", 3e-9, point={"footprint": 2**12})
        records[0]["warnings"] = ["below-floor: shorter than the floor"]
        self.open(self.make(records))
        self.assertRegex(self.js("return document.querySelector('.family .verdict').textContent").replace("\u200b", ""),
                         r"\Alatency_global takes \S+ ns (±|-)\S+.% at footprint=\S+ and \S+ ns (±|-)\S+.% \(below-floor\) at footprint=4096\.")

    def test_verdict_explains_missing_ranks_and_names_a_deciding_command(self):
        maker = made.Maker()
        records = [maker.record("pitch", variant, seconds, point={"width": 64}, argv=["cllab", "run", "pitch_*"]) for variant, seconds in (("wide", 1e-4), ("roi", 1.05e-4))]
        self.open(self.make(records))
        verdict = self.js("return document.querySelector('.bars .verdict').textContent").replace("\u200b", "")
        self.assertRegex(verdict, r"pitch_wide, pitch_roi are too close to call, the best takes \S+ us ±\S+.%; samples overlap, or differ by no more than the \d+.% that")
        self.assertIn("cllab run pitch_roi --vs pitch_wide --device 1:0 decides.", verdict)

    def test_cells_are_in_ranked_order_and_times_fit_a_phone(self):
        self.open(self.make(self.over_an_axis()), "#cells")
        names = self.js("return Array.from(document.querySelectorAll('#table tbody th')).map(t => t.textContent)")
        self.assertEqual([name.replace("\u200b", "")[6:] for name in names], ["wide", "roi"] * 4)
        self.resize(360)
        cut = self.js("""return Array.from(document.querySelectorAll('#table tr')).map(r => [r.querySelector('td.n, th:nth-child(3)').getBoundingClientRect().right, r.textContent])
            .filter(([right]) => right > 360)""")
        self.assertEqual(cut, [], "the first number and its unit")

    def test_card_and_its_code_fill_their_halves_and_wrap(self):
        records = self.plain_records()
        self.open(self.make(records))
        for width in WIDTHS:
            self.resize(width)
            self.js("for (const d of document.querySelectorAll('details')) d.open = true; for (const e of document.querySelectorAll('.code')) e.style.contentVisibility = 'visible'")
            holes = self.js("""return Array.from(document.querySelectorAll('.flow')).map(f => {
                const bottoms = {};
                for (const e of f.children) { const b = e.getBoundingClientRect(); bottoms[Math.round(b.left / 50)] = Math.max(bottoms[Math.round(b.left / 50)] ?? 0, b.bottom); }
                const ends = Object.values(bottoms);
                return Math.max(...ends) - Math.min(...ends); })""")
            self.assertLess(max(holes), 350, width)
            self.assertEqual(self.js("return Array.from(document.querySelectorAll('pre')).filter(p => p.scrollWidth > p.clientWidth + 1).map(p => p.textContent.slice(0, 60))"), [], width)

    def test_wide_screen_keeps_the_bars_near_their_names(self):
        maker = made.Maker()
        self.open(self.make([maker.record("pitch", variant, seconds, point={"width": 64}) for variant, seconds in (("wide", 1e-4), ("roi", 2e-4))]))
        self.resize(2560)
        self.assertLessEqual(self.js("return document.querySelector('figure.bars').getBoundingClientRect().width"), 1600)

    def test_roofline_without_a_slope_is_not_drawn_and_points_are_named(self):
        maker = made.Maker()
        records = [maker.record("pitch", variant, seconds, point={"width": 64}) for variant, seconds in (("wide", 1e-4), ("roi", 2e-4), ("loop", 3e-4))]
        for record in records:
            record["metrics"]["flops"] = {"value": record["metrics"]["bandwidth"]["value"] / 4, "unit": "FLOP/s", "better": "higher"}
        self.open(self.make(records))
        self.assertEqual(self.js("return document.querySelectorAll('section:has(#roofline) svg').length"), 0)
        self.assertIn("no slope", self.js("return document.querySelector('section:has(#roofline)').textContent"))
        for record in records:
            record["yardstick"] = {"kernel": "copy", "bytes": 1 << 33, "bandwidth": 2e11, "low": 2e11, "high": 2e11, "cell": "bandwidth_copy"}
        self.open(self.make(records))
        self.assertEqual(self.js("return Array.from(document.querySelectorAll('section:has(#roofline) .legend li')).map(l => l.textContent.trim())"),
                         ["pitch_wide", "pitch_roi", "pitch_loop"])

    def test_comparison_is_drawn_with_its_replicates_and_its_interval(self):
        records = [made.Maker().record("pitch", "wide", 1e-4, point={"width": 64})]
        comparison = {"schema": 2, "record": "comparison", "left": "pitch_wide", "right": "pitch_roi", "point": {"width": 64}, "device": made.CPU, "cache": "hot",
                      "verdict": "slower", "ratio": {"ratio": 1.1, "n": 8, "low": 1.05, "high": 1.15, "coverage": 0.99}, "control": {"ratio": 1.0, "n": 8}, "floor": 0.005,
                      "seconds": 3, "control_of": "both",
                      "arrangements": [{"seed": n, "log_ratio": 0.09 + 0.002 * n, "error": 0.01, "control": 0.001 * n, "control_error": 0.01, "rounds": 9, "same_memory": True}
                                       for n in range(8)]}
        self.open(self.make([*records, comparison]))
        self.assertEqual(self.js("return ['circle.best', 'circle.apart', '.span-of'].map(s => document.querySelectorAll('.versus ' + s).length)"), [8, 8, 1])
        for width in WIDTHS:
            self.resize(width)
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), width)
        self.assert_quiet()


if __name__ == "__main__":
    main()
