"""How the page of `cllab report --html` looks in a real browser: axes, widths, colors, and all of it without JavaScript."""
import base64
import json
import re

from browser import BrowserTest  # which finds the modules of tests/cli
import made
from lab import main


class Looks(BrowserTest):
    def test_zoom_moves_the_axis(self):
        self.open(self.make(self.plain_records()))
        ticks = "return Array.from(document.querySelectorAll('figure.chart .ticks text')).map(t => t.textContent)"
        before = self.js(ticks)
        self.js("Array.from(document.querySelectorAll('figure.chart .zoom button')).find(b => b.textContent === 'zoom in').click()")
        self.assertNotEqual(self.js(ticks), before)
        self.js("Array.from(document.querySelectorAll('figure.chart .zoom button')).find(b => b.textContent === 'whole').click()")
        self.assertEqual(self.js(ticks), before)
        self.assert_quiet()

    def test_distant_times_are_logarithmic_and_untimed_points_listed(self):
        maker = made.Maker()
        records = [maker.record("pitch", variant, seconds, point={"width": 64}) for variant, seconds in (("wide", 1e-4), ("roi", 2e-4), ("image", 5e-2))]
        for width in (64, 128, 256):
            record = maker.record("pitch", "swar", 1e-3, point={"width": width}, status="unsupported", reason="the device has no images")
            record["metrics"], record["samples"] = {}, []
            del record["time"]
            records.append(record)
        self.open(self.make(records))
        self.assertEqual(self.js("return document.querySelectorAll('figure.bars').length"), 1, "a chart without a bar")
        self.assertIn("logarithmic", self.js("return document.querySelector('.bars .head').textContent"))
        wide, roi, image = self.js("return Array.from(document.querySelectorAll('.bars circle')).map(c => c.getBoundingClientRect().left)")
        self.assertGreater(roi - wide, (image - wide) / 15, "0.1 and 0.2 ms are told apart beside 50 ms")
        self.assertEqual(self.js("return document.querySelectorAll('.bars rect').length"), 0)
        self.assertIn("3 unsupported, the device has no images: pitch_swar (3 points)", self.js("return document.querySelector('.untimed').textContent"))
        self.open(self.make(records[:2]))
        self.assertEqual(self.js("return [document.querySelectorAll('.bars rect').length, document.querySelectorAll('.bars circle').length]"), [2, 0])
        self.assertIn("from 0", self.js("return document.querySelector('.bars .head').textContent"))
        self.open(self.make(records[:1]))
        self.assertRegex(self.js("return document.querySelector('.verdict').textContent"), r"\Apitch_wide takes \S+ us [±-]")
        self.assert_quiet()

    def test_nothing_is_wider_than_the_screen_or_too_small_to_read(self):
        self.open(self.make(self.plain_records()))
        for width in (360, 1280, 2560):
            self.resize(width)
            # Of what is out of sight nothing else would be looked at.
            self.js("for (const e of document.querySelectorAll('.bars, .chart, .code, .scroll')) e.style.contentVisibility = 'visible'")
            self.js("for (const d of document.querySelectorAll('details')) d.open = true")
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), width)
            small = self.js("""return Array.from(document.querySelectorAll('main *')).filter(e => e.childNodes.length &&
                Array.from(e.childNodes).some(n => n.nodeType === 3 && n.textContent.trim()) && e.getClientRects().length &&
                parseFloat(getComputedStyle(e).fontSize) < 10).map(e => e.outerHTML.slice(0, 80))""")
            self.assertEqual(small, [])
        self.assert_quiet()

    def assert_texts_apart(self, where, may_break="pre, code, td:has(code)"):
        """No text lies on another one, and no word is broken."""
        # Of what scrolls only what is inside its box is in sight.
        texts = """for (const d of document.querySelectorAll('details')) d.open = true;
            for (const e of document.querySelectorAll('.bars, .chart, .code, .scroll')) e.style.contentVisibility = 'visible';
            const out = [], broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
            while (walker.nextNode()) {
                const node = walker.currentNode, e = node.parentElement;
                if (!node.data.trim() || e.closest('.hidden, script, style, [hidden], nav') || !e.checkVisibility() || getComputedStyle(e).opacity === '0') continue;
                let box = [-1e9, -1e9, 1e9, 1e9];
                for (let p = e; p; p = p.parentElement) if (p.matches('.scroll, pre')) { const b = p.getBoundingClientRect(); box = [b.left, b.top, b.right, b.bottom]; break; }
                for (const part of node.data.matchAll(/[^\\s-]+-*/g)) {
                    range.setStart(node, part.index); range.setEnd(node, part.index + part[0].length);
                    const lines = Array.from(range.getClientRects()).filter(r => r.width);
                    if (new Set(lines.map(r => Math.round(r.top))).size > 1 && !e.closest(arguments[0])) broken.push([part[0], e.outerHTML.slice(0, 200)]);
                    for (const r of lines) {
                        const [l, t, w, b] = [Math.max(r.left, box[0]), Math.max(r.top, box[1]), Math.min(r.right, box[2]), Math.min(r.bottom, box[3])];
                        if (w - l > 1 && b - t > 1) out.push([l, t, w, b, part[0], e.tagName + '.' + e.getAttribute('class')]);
                    }
                }
            }
            return [out, broken]"""
        found, broken = self.js(texts, may_break)
        self.assertGreater(len(found), 300)
        self.assertEqual(broken, [], where)
        found.sort(key=lambda one: one[1])
        overlapping = []
        for i, (left, top, right, bottom, word, place) in enumerate(found):
            for other in found[i + 1:]:
                if other[1] >= bottom - 3:
                    break
                if min(right, other[2]) - max(left, other[0]) > 2:
                    overlapping.append((word, place, other[4:]))
        self.assertEqual(overlapping, [], where)

    def roofline_records(self):
        """Families whose points lie beside each other, on three devices; two variants declare no operations."""
        maker, out = made.Maker(), []
        for device, factor in ((made.CPU, 3), (made.GPU, 1), (made.GPU | {"name": "AMD Radeon Instinct MI25", "platform": "AMD", "identity": "3"}, 2)):
            for family, intensity in (("pitch", 0.25), ("saxpy", 0.17), ("himeno", 0.3), ("reduce", 0.25), ("gemm", 40), ("fma", 100)):
                for n, variant in enumerate(("wide", "short8", "implicit"), 1):
                    record = maker.record(family, variant, factor * (1 + 0.1 * n) * 1e-4, device=device, point={"size": 1 << 20})
                    record["metrics"]["flops"] = {"value": record["metrics"]["bandwidth"]["value"] * intensity, "unit": "FLOP/s", "better": "higher"}
                    record["yardstick"] = {"kernel": "copy", "bytes": 1 << 33, "bandwidth": 2e11, "low": 2e11, "high": 2e11, "cell": "bandwidth_copy"}
                    out.append(record)
            out.append(maker.record("pitch", "roi", factor * 1e-4, device=device, point={"size": 1 << 20}))
        return out

    def test_roofline_labels_do_not_overlap_and_name_roofs_with_rates(self):
        self.open(self.make(self.roofline_records()), "#roofline")
        charts = "Array.from(document.querySelectorAll('section:has(#roofline) figure'))"
        for labels in self.js(f"return {charts}.map(f => Array.from(f.querySelectorAll('.labels text')).map(t => t.textContent))"):
            self.assertIn("copy beyond the caches, 200 GB/s", labels)
            self.assertEqual(len([label for label in labels if label.startswith("fastest fma record, ")]), 1)
            self.assertGreaterEqual(len(labels), 6, "the highest of most families is named")
        self.assertEqual(self.js(f"return {charts}.map(f => Array.from(f.querySelectorAll('.legend li')).map(l => l.textContent.trim()))"),
                         [["pitch", "saxpy", "himeno", "reduce", "gemm", "fma"]] * 3)
        self.assertIn("Not here, because no operations or no bytes are declared: pitch_roi.", self.js("return document.querySelector('section:has(#roofline)').textContent"))
        for width in (360, 768, 1440, 2560):
            self.resize(width)
            self.assert_texts_apart(width)
            outside = f"""return {charts}.flatMap(f => Array.from(f.querySelectorAll('.labels text')).filter(t => {{
                const [t0, f0] = [t.getBoundingClientRect(), f.getBoundingClientRect()];
                return t0.left < f0.left || t0.right > f0.right + 1 || t0.top < f0.top }}).map(t => t.textContent))"""
            self.assertEqual(self.js(outside), [], width)

    def test_labels_of_roofs_are_in_the_order_of_their_lines(self):
        records = self.plain_records()
        figures = [{"id": f"peak.{name}", "name": name + " peak", "value": value, "unit": "FLOP/s", "low": value, "high": value} for name, value in (("double", 42e9), ("float", 84e9))]
        figures += [{"id": f"memory.{n}", "name": name, "value": value, "unit": "B/s", "low": value, "high": value}
                    for n, (name, value) in enumerate((("L1 read bandwidth", 142e9), ("L2 read bandwidth", 90.7e9), ("L3 read bandwidth", 45.9e9), ("memory read bandwidth", 9.26e9),
                                                    ("copy bandwidth", 12.5e9), ("read bandwidth", 8.83e9)))]
        profile = {"schema": 2, "device": made.CPU, "utc": "2026-01-01T00:00:00Z", "figures": figures, "curves": []}
        (self.folder / "dumps" / "cpu" / "profile.json").write_text(json.dumps(profile))
        for record in records:
            if record["family"] == "pitch" and record["metrics"]:
                record["metrics"]["flops"] = {"value": 50e9 if record["variant"] == "wide" else 0.5e9, "unit": "FLOP/s", "better": "higher"}
                record["metrics"]["bandwidth"]["value"] = 1e9
        self.open(self.make(records), "#roofline")
        heights = dict(self.js("return Array.from(document.querySelectorAll('section:has(#roofline) .labels text')).map(t => [t.textContent.split(',')[0], Number(t.getAttribute('y'))])"))
        for kind in (("float peak", "double peak"), [f"{name} bandwidth" for name in ("L1 read", "L2 read", "L3 read", "copy", "memory read", "read")]):
            self.assertEqual(sorted(kind, key=heights.get), list(kind), heights)

    def test_labels_below_bars_do_not_overlap_on_any_screen(self):
        maker, records = made.Maker(), []
        for width, times in ((64, (327e-12, 1.98e-9)), (128, (704e-12, 2.4e-9)), (256, (2.3e-9, 3.31e-9)), (512, (4.84e-3, 84e-3, 783e-3))):
            records += [maker.record("pitch", variant, seconds, point={"width": width}) for variant, seconds in zip(("wide", "roi", "loop"), times)]
        for record in records:
            record["limit"] = "not explained 60 %"
            record["metrics"]["hot_code"] = {"value": 11.4855, "unit": "instr/pixel", "better": "neither"}
        self.open(self.make(records))
        axes = """return Array.from(document.querySelectorAll('.bars .axis')).map(a => Array.from(a.querySelectorAll('text')).filter(t => t.getClientRects().length &&
            getComputedStyle(t).display !== 'none').map(t => [t.getBoundingClientRect().left, t.getBoundingClientRect().right, t.textContent]))"""
        for width in (360, 768, 1024, 1440, 2000, 2560):
            self.resize(width)
            found = self.js(axes)
            self.assertEqual(len(found), 4)
            for labels in found:
                self.assertGreaterEqual(len(labels), 2, (width, labels))
                for one, next_one in zip(labels, labels[1:]):
                    self.assertGreater(next_one[0] - one[1], 3, (width, labels))

    def test_page_of_one_device_names_it_only_in_its_head(self):
        maker = made.Maker()
        records = [maker.record("pitch", variant, n * 1e-4, point={"width": 64}) for n, variant in enumerate(("wide", "roi"), 1)]
        records += [maker.record("latency", "global", 2e-9, point={"footprint": 2**k}) for k in range(12, 20)]
        self.open(self.make(records))
        self.assertIn("cpu-Some", self.js("return document.querySelector('h1').textContent"))
        self.assertEqual(self.js("return document.querySelector('.bars .verdict').textContent")[:10], "pitch_wide")
        self.assertNotIn("cpu-Some", self.js("return Array.from(document.querySelectorAll('.family, figcaption, .code > summary')).map(e => e.textContent).join()"))

    def test_reasons_that_differ_only_in_numbers_share_one_line(self):
        maker = made.Maker()
        records = [maker.record("latency", "global", 2e-9, point={"footprint": 2**k}) for k in range(12, 20)]
        for footprint in (192, 256, 384):
            record = maker.record("latency", "global", 1, point={"footprint": footprint << 20}, status="unsupported", reason=f"a footprint of {footprint} MiB is far beyond the last-level cache")
            record["metrics"], record["samples"] = {}, []
            del record["time"]
            records.insert(0, record)
        self.open(self.make(records))
        self.assertEqual(self.js("return Array.from(document.querySelectorAll('.untimed')).map(e => e.textContent)"),
                         ["3 unsupported, a footprint of 384 MiB is far beyond the last-level cache, and the like: latency_global (3 points)"])
        self.assertTrue(self.js("return document.querySelector('.untimed').compareDocumentPosition(document.querySelector('p.verdict')) & Node.DOCUMENT_POSITION_PRECEDING"))

    def test_ratios_of_variants_with_different_work_are_per_byte(self):
        maker = made.Maker()
        records = [maker.record("bandwidth", variant, seconds, point={"size": 64}) for variant, seconds in (("reread", 7e-12), ("read", 2e-2), ("copy", 3e-2))]
        for record, rate in zip(records, (150e9, 5e9, 3e9)):
            record["metrics"]["bandwidth"]["value"] = rate
        self.open(self.make(records))
        self.assertEqual(self.js("return document.querySelector('.verdict').textContent").replace("\u200b", ""),
                         "bandwidth_reread is fastest per byte; next is bandwidth_read, 30.0 times as long per byte (bandwidth_copy takes 50.0 times as long per byte).")

    def test_method_follows_all_results(self):
        self.open(self.make(self.plain_records()))
        self.assertEqual(self.js("return Array.from(document.querySelectorAll('main h2[id]')).at(-1).id"), "method")

    def test_curves_of_one_variant_are_distinct_in_their_sentences(self):
        maker, out = made.Maker(), []
        for order in ("paged", "random"):
            for k in range(12, 20):
                record = maker.record("latency", "global", 2e-9 if k < 15 else 6e-9, point={"footprint": 2**k, "order": order})
                record["metrics"] = {"step_time": {"value": record["time"]["median"], "unit": "s", "better": "lower"}}
                out.append(record)
        self.open(self.make(out))
        sentences = self.js("return Array.from(document.querySelectorAll('p.verdict')).map(p => p.textContent)")
        self.assertEqual(len(sentences), 2)
        for order, sentence in zip(("paged", "random"), sentences):
            self.assertIn(f"latency_global order={order} takes ", sentence)

    def test_sizes_are_human_readable(self):
        self.open(self.make(self.roofline_records()))
        self.assertIn("size=1Mi", self.js("return document.querySelector('.family .point').textContent"))

    def test_screenshot_of_the_whole_page_includes_the_hidden_part(self):
        self.open(self.make(self.plain_records()))
        height = self.js("return document.documentElement.scrollHeight")
        self.assertGreater(height, 1500, "the page is longer than the screen")
        whole = {"format": "png", "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": 1280, "height": height, "scale": 1}}
        beyond = self.browser.execute_cdp_cmd("Page.captureScreenshot", whole)["data"]
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 1280, "height": height, "deviceScaleFactor": 1, "mobile": False})
        in_sight = self.browser.execute_cdp_cmd("Page.captureScreenshot", whole)["data"]
        self.assertGreater(len(beyond), 0.9 * len(in_sight), "what is blank takes few bytes")

    def test_no_texts_overlap_no_word_breaks_and_no_half_is_empty(self):
        records = self.plain_records()
        records[0]["id"] = records[0]["family"] + "_" + "a_variant_with_a_name_of_many_many_words"
        for record in records:
            record["metrics"]["hot_code"] = {"value": 11.4855, "unit": "instr/pixel", "better": "neither"}
        self.open(self.make(records))
        shares = """return Array.from(document.querySelectorAll('.bars td.bar, .plot, .figures')).filter(e => e.checkVisibility()).map(e => {
            const whole = (e.closest('figure') || document.querySelector('main')).getBoundingClientRect().width;
            return [e.getAttribute('class'), e.getBoundingClientRect().width / whole]})"""
        for width in (360, 768, 1024, 1100, 1280, 1440, 2560):
            self.resize(width)
            self.assert_texts_apart(width)
            for kind, share in self.js(shares):
                self.assertGreater(share, 0.35 if kind == "bar" else 0.6, (width, kind, share))

    def test_missing_values_of_a_row_shift_no_column(self):
        maker, records = made.Maker(), []
        for n, (variant, limit, registers, instructions) in enumerate((("wide", "memory 96 %", 24, 11.4855), ("a_longer_name", None, None, 1.5), ("roi", "L2", 128, None)), 1):
            records.append(maker.record("pitch", variant, n * 1e-4, point={"width": 64}))
            records[-1] |= {"limit": limit} if limit else {}
            records[-1]["code"] |= {"registers": registers} if registers else {}
            records[-1]["metrics"] |= {"hot_code": {"value": instructions, "unit": "instr/pixel", "better": "neither"}} if instructions else {}
        self.open(self.make(records))
        lefts = """return Array.from(document.querySelectorAll('.bars .row')).map(r => Array.from(r.cells).filter(c => c.textContent.trim() && !c.matches('.name, .samples'))
            .map(c => [c.dataset.title || c.className, Math.round(c.getBoundingClientRect().left)]))"""
        for width in (744, 768, 1440):
            self.resize(width)
            cells = [tuple(cell) for row in self.js(lefts) for cell in row]
            self.assertEqual(len({title for title, _ in cells}), 5, cells)
            self.assertEqual(len(set(cells)), 5, (width, cells))

    def test_printed_sheet_has_one_comparison_without_overlaps(self):
        maker = made.Maker()
        self.open(self.make([maker.record("pitch", variant, n * 1e-4 * width, point={"width": width, "height": width}) for width in (1, 2, 3) for n, variant in enumerate(("wide", "roi"), 1)]))
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"media": ""})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.resize(700)  # of A4 between its margins
        self.assert_texts_apart("on paper", "pre, code, .scroll")  # wide tables are made to fit the sheet
        self.assertEqual(self.js("return Array.from(document.querySelectorAll('figure.bars')).map(f => getComputedStyle(f).breakBefore)"), ["auto", "page", "page"])
        self.assertEqual(self.js("return getComputedStyle(document.querySelector('.figures')).display"), "block", "what is flexible does not break")
        printed = base64.b64decode(self.browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
        self.assertGreaterEqual(len(re.findall(rb"/Type\s*/Page\b", printed)), 5, "three comparisons, the variants, the method")

    def test_everything_is_visible_without_javascript(self):
        records = self.plain_records()
        page = self.make(records)
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        self.open(page)
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        self.assertEqual(self.js("return document.querySelectorAll('.filter, .zoom, #table button').length"), 0, "the script has run")
        self.assertEqual(self.js("return document.querySelectorAll('#table tbody tr').length"), len(records))
        self.assertEqual(self.js("return document.querySelectorAll('.row[data-cell]').length"), 7)
        self.assertEqual(self.js("return document.querySelectorAll('figure.chart .dot[data-cell]').length"), 15)
        self.assertEqual(self.js("return document.querySelectorAll('.bars .density').length"), 6)
        self.assertGreater(self.js("return document.querySelectorAll('.isa span').length"), 10)
        visible = self.js("return Array.from(document.querySelectorAll('.bars rect, figure.chart .line')).every(e => e.getBoundingClientRect().width > 0)")
        self.assertTrue(visible)


if __name__ == "__main__":
    main()
