"""The page of `cllab report --html` in a real browser: what it shows of the records, and what records cannot do to it."""
import json
import re
import shutil

from browser import BrowserTest  # which finds the modules of tests/cli
import made
from lab import SOURCE, main

HOSTILE = ["</script><script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\"><svg onload=window.hit=1>", "' onfocus=window.hit=1 autofocus='",
           "javascript:window.hit=1", "<!--", "]]>", "&lt;script&gt;", "\x1b[31mred", "a\u202eb", "\u2028", "<style>*{display:none}</style>",
           "<meta http-equiv=refresh content=0;url=http://example.org>"]


class Page(BrowserTest):
    def test_page_has_no_errors_and_its_table_matches_the_records(self):
        records = self.plain_records()
        self.open(self.make(records))
        self.assert_quiet()
        rows = self.js("return Array.from(document.querySelectorAll('#table tbody tr')).sort((a, b) => a.dataset.cell - b.dataset.cell).map(r => [r.cells[0].textContent, "
                       "r.cells[1].textContent, r.cells[3].firstChild.textContent, r.querySelector('[data-v]')?.dataset.v ?? null])")
        self.assertEqual([row[0] for row in rows], [r["id"] for r in records])
        self.assertEqual([row[2] for row in rows], [r["status"] for r in records])
        self.assertEqual([float(row[3]) if row[3] else None for row in rows], [r["time"]["median"] if "time" in r else None for r in records])
        self.assertEqual(self.js("return JSON.parse(document.getElementById('data').textContent).cells.map(c => c.median ?? null)"),
                         [r["time"]["median"] if "time" in r else None for r in records])
        text = self.js("return document.body.textContent")
        for words in ("pitch_wide is fastest", "wrong_result", "dst differs at 17", "noise-floor", "dst[0] = 1;", "innermost loop at", "vector_256"):
            self.assertIn(words, text)
        self.assertEqual(self.js("return Array.from(document.querySelectorAll('figure')).filter(f => !f.querySelector('.xtitle, .head')).length"), 0,
                         "a chart without axis titles")

    def test_hover_shows_the_record_and_highlights_the_cell_everywhere(self):
        records = self.plain_records()
        self.open(self.make(records))
        hovered = self.js("""
            const out = [];
            for (const element of document.querySelectorAll('.row[data-cell]')) {
                element.dispatchEvent(new PointerEvent('pointerenter', {clientX: 50, clientY: 50}));
                out.push([Number(element.dataset.cell), document.getElementById('tip').textContent, document.querySelectorAll('.lit').length]);
                element.dispatchEvent(new PointerEvent('pointerleave'));
            }
            for (const dot of document.querySelectorAll('figure.chart .dot[data-cell]')) {
                const box = dot.getBoundingClientRect();
                dot.closest('.plot').dispatchEvent(new PointerEvent('pointermove', {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2}));
                out.push([Number(dot.dataset.cell), document.getElementById('tip').textContent, document.querySelectorAll('.lit').length]);
            }
            return out;""")
        self.assertGreater(len(hovered), 20)
        for cell, said, lit in hovered:
            self.assertIn(records[cell]["id"], said)
            self.assertGreaterEqual(lit, 2)
            if "time" not in records[cell]:
                continue
            number, unit = re.search(r"median([\d.e-]+) (\w+)95", said).groups()
            scale = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}[unit]
            self.assertAlmostEqual(float(number) * scale / records[cell]["time"]["median"], 1, delta=0.006)
        self.assert_quiet()

    def test_the_table_sorts_and_filters(self):
        self.open(self.make(self.plain_records()))
        medians = "return Array.from(document.querySelectorAll('#table tbody tr')).map(r => Number(r.cells[4].dataset.v ?? -1))"
        head = "Array.from(document.querySelectorAll('#table thead button')).find(b => b.textContent === 'median time')"
        self.js(head + ".click()")
        up = self.js(medians)
        self.assertEqual(up[:-1], sorted(up[:-1]))
        self.assertEqual(up[-1], -1, "a cell without a time is last")
        self.js(head + ".click()")
        self.assertEqual(self.js(medians)[:-1], sorted(up[:-1], reverse=True))
        shown = self.js("""const input = document.querySelector('.filter input');
            input.value = 'WIDE h200'; input.dispatchEvent(new Event('input'));
            return Array.from(document.querySelectorAll('#table tbody tr')).filter(r => !r.hidden).map(r => [r.cells[0].textContent, r.cells[1].textContent])""")
        self.assertEqual(shown, [["pitch_wide", "H200"]])
        self.assert_quiet()

    def test_each_cell_has_an_address(self):
        page = self.make(self.plain_records())
        for fragment, wanted in (("#pitch_wide@H200", "pitch_wide@H200"), ("#pitch_wide@h2", "pitch_wide@H200"), ("#pitch_wide@some", "pitch_wide@cpu-Some"),
                                 ("#latency_global@H200;footprint=65536", "latency_global@H200;footprint=65536")):
            self.open(page, fragment)
            id, place, card, row = self.js("""const e = document.getElementById(arguments[0]), b = e.getBoundingClientRect(), card = e.closest('details');
                return [e.id, [b.top, b.bottom, innerHeight], card && [card.open, card.dataset.cell], document.querySelector('#table tr.lit').dataset.cell]""", wanted)
            self.assertEqual(id, wanted, fragment)
            self.assertTrue(0 <= place[0] < place[2], f"{fragment} is not in sight: {place}")
            self.assertTrue(card[0], "the card is closed")
            self.assertEqual(self.js("return JSON.parse(document.getElementById('data').textContent).cells[arguments[0]].anchor", int(row)), wanted)
        self.assertEqual(self.js("const ids = Array.from(document.querySelectorAll('[id]')).map(e => e.id); return ids.length - new Set(ids).size"), 0)
        broken = self.js("return Array.from(document.querySelectorAll('a[href^=\"#\"]')).map(a => decodeURIComponent(a.getAttribute('href').slice(1)))"
                         ".filter(id => !document.getElementById(id))")
        self.assertEqual(broken, [])
        self.assert_quiet()

    def explained(self, record, limit, bounds, **more):
        """A line of `cllab why --json` that explains the record."""
        median = record["time"]["median"]
        line = {"schema": 2, "record": "why", "id": record["id"], "point": record["point"],
                "device": {key: record["device"][key] for key in ("platform", "name", "driver", "selector", "identity")}, "status": "ok", "seconds": median,
                "limit": limit, "bounds": [{"id": name, "name": name + " bandwidth", "brief": name, "seconds": part * median, "low": part * median,
                                            "high": part * median, "figure": "f", "how": "33.6 MB at 40 GB/s"} for name, part in bounds],
                "unbounded": [], "run": record["run"]["id"]}
        return line | more

    def ranked_records(self):
        """Three kernels, the fastest in the middle, one unsupported; and what limits two of them."""
        maker = made.Maker()
        argv = ["cllab", "run", "pitch_*", "--device", "cpu", "--json", "r.jsonl", "-a", "width=4096", "--max-time=0.1"]
        records = [maker.record("pitch", variant, seconds, point={"width": 4096}, argv=argv) for variant, seconds in (("loop", 3e-4), ("wide", 1e-4), ("roi", 2e-4))]
        records[0]["argv"] = ["cllab", "why", "it's.cl", "--json=w.jsonl", "--force"]
        records[1]["code"] |= {"registers": 24, "loop": {"instructions": 26}}
        unsupported = maker.record("pitch", "image", 1, point={"width": 4096}, status="unsupported", reason="the device has no images", argv=argv)
        unsupported["metrics"], unsupported["samples"] = {}, []
        del unsupported["time"]
        lines = [self.explained(records[1], "named", [("memory", 0.96), ("L2", 0.3)], advice="Wider loads."), self.explained(records[0], "not explained", [("memory", 0.4)])]
        return [*records, unsupported, *lines]

    def test_first_screen_shows_winner_margin_certainty_and_cause(self):
        self.open(self.make(self.ranked_records()))
        rows = self.js("return Array.from(document.querySelectorAll('.bars .row')).map(r => Array.from(r.cells).map(c => c.textContent.trim()))")
        self.assertEqual([row[0] for row in rows], ["pitch_wide", "pitch_roi", "pitch_loop"], "fastest first")
        self.assertEqual([row[2][:3] for row in rows], ["fas", rows[1][2][:3], rows[2][2][:3]])
        self.assertRegex(rows[2][2], r"\A(2\.9\d|3\.0\d|3)x\Z")
        self.assertEqual([row[3] for row in rows], ["memory 96 %", "", "not explained 60 %"])
        self.assertEqual(rows[0][4:6], ["24", "26"])
        for row in rows:
            self.assertRegex(row[1], r"\A\d+(\.\d+)? us (±|[+-]).* %\Z")
        bottom, lengths = self.js("return [document.querySelector('figure.bars').getBoundingClientRect().bottom, "
                                  "Array.from(document.querySelectorAll('.bars rect')).map(r => r.getBoundingClientRect().width)]")
        self.assertLess(bottom, 1000)
        self.assertAlmostEqual(lengths[2] / lengths[0], 3, delta=0.1)
        verdict = self.js("return document.querySelector('.bars .verdict').getBoundingClientRect().top")
        self.assertLess(verdict, 400)
        self.assertIn("1 unsupported, the device has no images: pitch_image", self.js("return document.querySelector('.untimed').textContent"))
        self.assert_quiet()

    def test_unranked_row_with_the_least_time_is_named_with_the_winner(self):
        maker = made.Maker()
        records = [maker.record("pitch", variant, seconds, samples=n, point={"width": 64}) for variant, seconds, n in (("wide", 1e-4, 20), ("roi", 2e-4, 20), ("loop", 5e-5, 3))]
        verdict = "return document.querySelector('.bars figcaption').textContent"
        self.open(self.make(records))
        self.assertRegex(self.js(verdict), r"pitch_wide is fastest: .* 1 of 3 is not ranked, of which pitch_loop has the shortest time, \d\S* us, n = 3\.")
        self.open(self.make([*records[:2], maker.record("pitch", "loop", 5e-4, samples=3, point={"width": 64})]))
        self.assertRegex(self.js(verdict), r"1 of 3 is not ranked\. ")

    def test_rows_of_other_runs_are_sorted_by_time_below_ranked_ones(self):
        maker, records = made.Maker(), []
        for run, variants in (("0", (("wide", 4e-4), ("roi", 3e-4))), ("1", (("loop", 2e-4),)), ("2", (("swar", 1e-4),))):
            records += [maker.record("pitch", variant, seconds, point={"width": 64}) for variant, seconds in variants]
            for record in records[-len(variants):]:
                record["run"]["id"] = 32 * run
        self.open(self.make(records))
        self.assertEqual(self.js("return Array.from(document.querySelectorAll('.bars .name')).map(n => n.textContent)"), ["pitch_roi", "pitch_wide", "pitch_swar", "pitch_loop"])

    def test_portrait_separates_curves_of_one_variant(self):
        records = self.plain_records()
        curves = [{"id": "latency_global", "over": "footprint", "fixed": {"order": order, "line": "64"},
                   "samples": [{"x": 2**k, "seconds": 1e-6, "step_time": 2e-9} for k in range(12, 20)]} for order in ("paged", "random")]
        (self.folder / "dumps" / "cpu" / "profile.json").write_text(json.dumps({"schema": 2, "device": made.CPU, "utc": "2026-01-01T00:00:00Z", "figures": [], "curves": curves}))
        self.open(self.make(records))
        legend = self.js("return Array.from(document.querySelectorAll('section:has(#portrait) .legend li')).map(l => l.textContent.trim())")
        self.assertEqual(legend, ["latency_global order=paged", "latency_global order=random"])

    def test_x86_moves_to_or_from_memory_have_the_color_of_memory(self):
        self.open(self.make(self.plain_records()))
        lines = self.js("return Array.from(document.querySelectorAll('.isa span')).map(s => [s.textContent.slice(1), s.className])")
        moves = [line for line in lines if "mov" in line[0].split()[0] and "[" in line[0]]
        self.assertGreater(len(moves), 3)
        self.assertEqual({style for _, style in moves}, {"k-memory"})
        self.assertIn("k-vector", {style for text, style in lines if "[" not in text})

    def test_close_times_are_marked_and_a_missing_profile_is_explained(self):
        maker = made.Maker()
        self.open(self.make([maker.record("pitch", variant, seconds, point={"width": 64}) for variant, seconds in (("loop", 1.01e-4), ("wide", 1e-4), ("roi", 4e-4))]))
        rows = self.js("return Array.from(document.querySelectorAll('.bars .row')).map(r => [r.className, r.cells[2].textContent])")
        self.assertEqual([row[0] for row in rows], ["row tie", "row tie", "row value"])
        self.assertRegex(rows[0][1], r"~1\.00x not told apart")
        self.assertIn("too close to call", self.js("return document.querySelector('.bars .verdict').textContent"))
        self.assertEqual(self.js("return document.querySelectorAll('.tag').length"), 0)
        self.assertIn("cllab profile", self.js("return document.querySelector('.lead').textContent"))

    def test_name_in_a_chart_opens_its_card_with_facts_and_command(self):
        self.open(self.make(self.ranked_records()))
        cards = self.js("return Array.from(document.querySelectorAll('details.code')).map(d => [d.id, d.open])")
        self.assertEqual(cards, [["pitch_wide@cpu-Some", True], ["pitch_roi@cpu-Some", False], ["pitch_loop@cpu-Some", False]], "the winner's card is first")
        self.js("Array.from(document.querySelectorAll('.bars .row a')).find(a => a.textContent === 'pitch_loop').click()")
        self.wait_until(lambda: self.js("return document.getElementById('pitch_loop@cpu-Some').open"), "the card is closed")
        self.wait_until(lambda: 0 <= self.js("return document.getElementById('pitch_loop@cpu-Some').getBoundingClientRect().top") < 500, "the card is not in sight")
        text = self.js("return document.getElementById('pitch_wide@cpu-Some').textContent")
        for part in ("limited by memory bandwidth: 96 % of the time", "33.6 MB at 40 GB/s", "What costs time: Wider loads.", "20 samples", "No code: the run wrote no dump."):
            self.assertIn(part, text)
        command = "cllab run pitch_wide --device cpu --max-time=0.1 --axis width=4096"
        self.assertEqual(self.js("return document.querySelector('.again').firstChild.textContent"), command)
        self.assertEqual(self.js("return document.querySelectorAll('.again')[2].firstChild.textContent"), "cllab why 'it'\\''s.cl'", "without what it has written")
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        self.js("document.querySelector('.again button').click()")
        self.wait_until(lambda: self.js("return document.querySelector('.again button').textContent") == "copied", "nothing was copied")
        self.assertEqual(self.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0], e => arguments[0](String(e)))"), command)
        self.assert_quiet()

    def dumped(self, record, kernel, name):
        """The record with the code of a reference dump in the folder of that name."""
        dump = self.folder / "dumps" / name / kernel
        dump.mkdir(parents=True)
        for file in ("isa.txt", "stats.json"):
            shutil.copy(SOURCE / "dumps" / "reference" / "PoCL-x86" / kernel / file, dump)
        # What was sampled stands in a listing too, so that equal code has different ones.
        (dump / "isa.txt").write_text((dump / "isa.txt").read_text() + f"// of {name}\n")
        record["dump"] = f"dumps/{name}/{kernel}"
        (dump / "timing.json").write_text(json.dumps(record))
        return record

    def test_hottest_code_is_shown_once_with_its_points_and_comparison(self):
        maker = made.Maker()
        function = "_pocl_kernel_pitch_short8_workgroup"
        # The samples lie in another loop than that with the most work, which a page without samples shows (0x1f40).
        block = {"function": function, "begin": 0x1e50, "end": 0x1ebe, "samples": 91, "share": 0.91, "instructions": 25, "classes": {}, "memory": {}, "loops": [0x1d19, 0x1e50]}
        hot = {"evidence": "sampled", "reason": "", "method": "perf_event_open, cpu-clock", "samples": 120, "in_kernel": 100, "elsewhere": {}, "code": function,
               "blocks": [block], "loops": [{"function": function, "header": 0x1e50, "depth": 2, "own": 0.91, "share": 0.91, "instructions": 25}]}
        records = []
        for n, width in enumerate((1024, 2048, 4096), 1):
            record = maker.record("pitch", "short8", n * 1e-4, point={"width": width}, hot=hot)
            record["code"]["fingerprint"] = "equal"
            records.append(self.dumped(record, "pitch_short8", f"cpu/width={width}"))
        other = maker.record("pitch", "vload8", 9e-4, point={"width": 1024})
        other["code"]["fingerprint"] = "another"
        records.append(self.dumped(other, "pitch_vload8", "cpu"))
        self.open(self.make(records))
        cards = self.js("return Array.from(document.querySelectorAll('details.code')).map(d => d.textContent)")
        self.assertEqual(len(cards), 2)
        self.assertIn("loop at 0x1e50", cards[0])
        self.assertIn("91.0 % of 100 sampled addresses", cards[0])
        self.assertRegex(cards[0], r"The same code at 2 other points: width=2048, 2\d\d us, width=4096, [23]\d\d us\.")
        self.assertIn("because no addresses were sampled", cards[1])
        # Vector instructions have their class's tint in the listing and where both variants stand beside each other.
        tint = "return new Set(Array.from(document.querySelectorAll('%s span.k-vector')).map(e => getComputedStyle(e).backgroundColor)).size"
        self.assertEqual((self.js(tint % ".isa"), self.js(tint % ".aligned")), (1, 1))
        pair = self.js("return Array.from(document.querySelectorAll('.pair tbody tr')).map(r => [r.className, r.cells[0].textContent, r.cells[2].textContent])")
        self.assertEqual({(bool(left), bool(right)) for kind, left, right in pair if kind in ("same", "near")}, {(True, True)})
        self.assertEqual(self.js("return document.querySelector('.pair').closest('.code').id"), self.js("return document.querySelector('.code').id"), "in the winner's card")
        self.resize(360)
        self.js("for (const d of document.querySelectorAll('details')) d.open = true")
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 360)
        self.assert_quiet()

    def test_code_of_a_later_run_is_shown_only_if_equal(self):
        maker = made.Maker()
        for fingerprint, text, shown in (("equal", "equal", True), ("another", "equal", False), ("equal", "another", False)):
            record = maker.record("pitch", "short8", 1e-4, point={"width": 1024})
            record["code"]["fingerprint"], record["build"]["source_sha256"] = "equal", "equal"
            later = maker.record("pitch", "short8", 2e-4, point={"width": 2048}, run=record["run"] | {"id": f"{7:032x}"})
            later["code"]["fingerprint"], later["build"]["source_sha256"] = fingerprint, text
            self.dumped(later, "pitch_short8", f"cpu/{fingerprint}-{text}")
            record["dump"] = later["dump"]
            self.open(self.make([record]))
            self.assertEqual(self.js("return document.querySelectorAll('.code .isa').length > 0"), shown)
            self.assertEqual("the code of another run" in self.js("return document.querySelector('.code').textContent"), not shown)

    def test_text_from_records_is_escaped_everywhere(self):
        maker = made.Maker()
        records = []
        for n, evil in enumerate(HOSTILE):
            device = made.CPU | {"name": f"{evil} {n}", "driver": evil, "platform": evil, "identity": evil, "vendor": evil, "last_level_from": evil}
            record = maker.record("pitch", "wide" + evil, 1e-3 * (n + 1), device=device, point={"width": 4096, "local" + evil: evil}, warnings=[evil, "x: " + evil],
                                  argv=["cllab", evil], host={"name": evil, "cpu": evil, "os": evil, "threads": 2}, dump="dumps/" + str(n) + "/k")
            record["build"] |= {"options": evil, "source": evil, "log": evil}
            record["run"] |= {"label": evil[:100]}
            record["code"] |= {"kind": evil, "registers": 3, "origin": {"registers": evil}, "fingerprint": evil}
            record["metrics"][evil] = {"value": 1, "unit": evil, "better": "higher"}
            dump = self.folder / "dumps" / str(n) / "k"
            dump.mkdir(parents=True)
            (dump / "source.cl").write_text(f"kernel void pitch_wide{evil}(global int* dst) {{\n  {evil}\n}}\n")
            stats = {"summary": "occupancy " + evil + "\n", "listings": [{"isa": "x86", "counts": {"function": "f"}}]}
            (dump / "stats.json").write_text(json.dumps(stats))
            (dump / "lines.txt").write_text(f"title\n1160 {evil}\n1163 <kernel>:2\n")
            (dump / "isa.txt").write_text(f"0000000000001160 <f>:\n    1160:      \tmov\trax, {evil}\n    1163:      \tret\n")
            records += [record, maker.record("pitch", "x", 2e-3, device=device, point={"width": 4096}, status="build_failed", reason=evil)]
            records[-1]["metrics"], records[-1]["samples"] = {}, []
            del records[-1]["time"]
        page = self.make(records)
        self.open(page)
        self.assert_quiet()
        self.assertIsNone(self.js("return window.hit ?? null"))
        self.assertEqual(self.js("return document.querySelectorAll('img, iframe, object, embed, main style, main script, main meta, [onload], [onerror], [onfocus]').length"), 0)
        self.assertEqual(self.js("return document.querySelectorAll('a').length - document.querySelectorAll('a[href^=\"#\"]').length"), 0)
        self.assertGreater(self.js("return document.querySelector('main').getBoundingClientRect().height"), 1000)
        self.assertIn(HOSTILE[0], self.js("return document.body.textContent"))
        self.assertNotRegex(page.read_text(), "[\x00-\x08\x0b-\x1f\x7f\u2028\u202e]")
        self.assertEqual(self.js("return document.querySelectorAll('script').length"), 3)
        # Whatever the page lets through, its policy runs nothing but its own scripts.
        self.js("const s = document.createElement('script'); s.textContent = 'window.hit = 1'; document.body.append(s)")
        self.assertIsNone(self.js("return window.hit ?? null"))

    def test_page_of_953_cells_with_all_samples_is_small_and_fast(self):
        maker = made.Maker()
        records = [maker.record("pitch", f"v{n % 16}", (1 + n % 16) * 1e-4, device=made.GPU if n % 2 else made.CPU, point={"width": 64 * (1 + n // 32), "height": 64 * (1 + n // 32)},
                                samples=2000, second_mode=1.3 if n % 5 == 0 else None) for n in range(953)]
        page = self.make(records)
        self.assertLess(page.stat().st_size, 4_000_000)
        self.open(page)
        self.assert_quiet()
        cells = self.js("return JSON.parse(document.getElementById('data').textContent).cells")
        self.assertTrue(all(len(cell["samples"]) == 512 for cell in cells))
        first, samples = cells[0], sorted(records[0]["samples"])
        unit = first["median"] / 10_000
        self.assertAlmostEqual(first["samples"][0] * unit, samples[0], delta=unit)
        self.assertAlmostEqual(sum(first["samples"]) * unit, samples[-1], delta=unit)
        # It is quick because what is out of sight is not laid out, and a link still leads to where it says.
        rows = "return Array.from(document.querySelectorAll('.bars .row[data-cell]')).map(r => r.checkVisibility({contentVisibilityAuto: true}))"
        laid_out = self.js(rows)
        self.assertGreater(len(laid_out), 400)
        self.assertLess(sum(laid_out), len(laid_out) / 2)
        for fragment in ("#cells", "#method"):
            self.open(page, fragment)
            top = f"return document.querySelector('{fragment}').getBoundingClientRect().top"
            below = "return document.documentElement.scrollHeight - innerHeight - scrollY"
            self.wait_until(lambda: 0 <= self.js(top) < 150 or (self.js(top) >= 0 and self.js(below) < 2), f"{fragment} is not at the top")


if __name__ == "__main__":
    main()
