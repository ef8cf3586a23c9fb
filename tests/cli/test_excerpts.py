"""What of a report goes elsewhere: --markdown and --svg for an issue or a slide."""
import collections
import re
import shutil
import struct
import zlib
import xml.etree.ElementTree as ElementTree

import made
from lab import LabTest, main

SVG = "{http://www.w3.org/2000/svg}"
CHARACTER = 7.3  # px of the picture's font, as the program takes it


def pixels(png):
    """Width, height and the colours that more than 100 pixels of a picture with 8 bits a channel have."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    channels, data, at = {2: 3, 6: 4}[kind], b"", 8
    assert depth == 8
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at:at + 8])
        data += png[at + 8:at + 8 + size] if name == b"IDAT" else b""
        at += 12 + size
    data, above, count = zlib.decompress(data), bytes((width + 1) * channels), collections.Counter()
    for start in range(0, len(data), 1 + width * channels):
        row = bytearray(channels)  # left of the first pixel
        for i, byte in enumerate(data[start + 1:start + 1 + width * channels]):
            a, b, c = row[i], above[i + channels], above[i]
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row.append((byte + (0, a, b, (a + b) // 2, nearest)[data[start]]) % 256)
        above = bytes(row)
        count.update(above[i:i + 3] for i in range(channels, len(above), channels))
    return width, height, {colour for colour, n in count.items() if n > 100}


class Excerpts(LabTest):
    def setUp(self):
        super().setUp()
        maker = made.Maker()
        times = {"wide": 2e-3, "a_variant_with_a_name_of_many_many_words_to_show": 1e-3, "roi": 4e-3}
        self.cells = [maker.record("pitch", variant, seconds, point={"width": 1024}) for variant, seconds in times.items()]
        failed = maker.record("pitch", "bad", 1, point={"width": 1024}) | {"status": "wrong_result", "reason": "dst|2] is *1*, not <2>", "samples": [], "metrics": {}}
        del failed["time"]
        self.fastest_first = sorted(self.cells, key=lambda cell: cell["time"]["median"])
        made.write(self.folder / "r.jsonl", [*self.cells, failed])

    def export(self, option, *more):
        return self.lab("report", "r.jsonl", f"--{option}", "-", *more)[0]

    def picture(self, text):
        root = ElementTree.fromstring(text)
        return root, [(e, float(e.get("x"))) for e in root.iter(f"{SVG}text")]

    def test_markdown_contains_only_a_table_of_complete_rows(self):
        out = self.export("markdown")
        table = [line for line in out.splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]
        self.assertEqual({len(row) for row in cells}, {len(cells[0])})
        self.assertRegex(table[1], r"^\|( -+:? \|)+$")
        self.assertEqual({row[0] for row in cells[2:]}, {cell["id"] for cell in self.cells} | {"pitch_bad"})
        self.assertEqual(cells[0][:2], ["kernel", "status"])
        self.assertNotIn("dump", cells[0])
        self.assertIn(r"- pitch_bad: dst\|2\] is \*1\*, not &lt;2&gt;", out)
        self.assertTrue(out.startswith("### cpu-Some Processor"), out)

    def test_chart_is_fastest_first_on_one_scale_without_overlaps(self):
        root, texts = self.picture(self.export("svg"))
        width = float(root.get("width"))
        names = [e.text for e, _ in texts if e.get("class") == "name"]
        self.assertEqual([name[:8] for name in names], [cell["id"][:8] for cell in self.fastest_first])
        bars = [e for e in root.iter(f"{SVG}rect") if e.get("class") in ("best", "tie", "value", "apart")]
        lengths = [float(e.get("width")) for e in bars]
        for bar, length, cell in zip(bars, lengths, self.fastest_first):
            self.assertAlmostEqual(length / lengths[0], cell["time"]["median"] / self.fastest_first[0]["time"]["median"], places=2)
            self.assertEqual(bar.get("x"), bars[0].get("x"))
        boxes = []
        for e, x in texts:
            long = CHARACTER * len(e.text)
            left = {None: x, "end": x - long, "middle": x - long / 2}[e.get("text-anchor")]
            self.assertGreaterEqual(left, 0, e.text)
            self.assertLessEqual(left + long, width, e.text)
            boxes.append((left, left + long, float(e.get("y")), e.text))
        for i, (left, right, y, text) in enumerate(boxes):
            for other_left, other_right, other_y, other in boxes[:i]:
                self.assertTrue(abs(y - other_y) >= 12 or right <= other_left or other_right <= left, (text, other))
        ends = [e for e, x in texts if e.get("class") == "time"]
        for bar, value in zip(bars, ends):
            self.assertLessEqual(float(bar.get("x")) + float(bar.get("width")), float(value.get("x")) - CHARACTER * len(value.text))

    def test_chart_shows_the_limiter_of_each_kernel_like_the_page(self):
        for cell, limit in zip(self.fastest_first, ("memory", "FLOP", "-")):
            cell["limit"] = limit
        made.write(self.folder / "r.jsonl", self.cells)
        root, texts = self.picture(self.export("svg"))
        self.assertEqual([e.text for e, _ in texts if e.get("class") == "limit"], ["memory", "FLOP", "not explained"])
        self.assertEqual([e.get("class") for e in root.iter(f"{SVG}rect") if e.get("class").startswith("t-")], ["t-memory", "t-compute", "t-none"])
        self.lab("report", "r.jsonl", "--html", "page.html")
        page = (self.folder / "page.html").read_text()
        for kind, word in (("memory", "memory"), ("compute", "FLOP"), ("none", "not explained")):
            self.assertRegex(page, f'tag t-{kind}"[^>]*>{word}<')

    def test_distant_times_are_points_on_a_logarithmic_scale(self):
        maker = made.Maker()
        made.write(self.folder / "r.jsonl", [maker.record("pitch", name, seconds) for name, seconds in (("a", 1), ("b", 1e-3), ("c", 4e-3))])
        root, _ = self.picture(self.export("svg"))
        points = [float(e.get("cx")) for e in root.iter(f"{SVG}circle")]
        self.assertEqual(len(points), 3)
        self.assertEqual(points, sorted(points))

    def test_title_omits_an_axis_that_its_kernels_lack(self):
        maker = made.Maker()
        made.write(self.folder / "r.jsonl", [maker.record("integer", name, seconds, point=point)
                                             for name, points, seconds in (("a", (32, 64), 1), ("b", (32, 64), 2), ("c", (None,), 3), ("d", (None,), 4))
                                             for point in ({"bits": bits} if bits else {} for bits in points)])
        _, texts = self.picture(self.export("svg"))
        self.assertEqual([e.text.split(" on ")[0] for e, _ in texts if e.get("class") == "title"], ["integer: bits=32", "integer: bits=64", "integer"])

    def test_chart_says_when_records_have_no_times(self):
        for cell in self.cells:
            cell.update(status="unsupported", reason="no", samples=[], metrics={})
            del cell["time"]
        made.write(self.folder / "r.jsonl", self.cells)
        _, texts = self.picture(self.export("svg"))
        self.assertEqual([e.text for e, _ in texts], ["No kernel has a time."])

    def test_chart_lists_the_points_of_a_single_kernel_beside_other_families(self):
        maker = made.Maker()
        curve = [maker.record("saxpy", "w128", size * 1e-9, point={"size": str(size)}) for size in (16384, 131072, 1048576)]
        for others in ([], self.cells):
            made.write(self.folder / "r.jsonl", [*others, *curve])
            _, texts = self.picture(self.export("svg"))
            self.assertIn("1 kernel at 3 points: nothing to rank", [e.text for e, _ in texts])
            names = [e.text for e, _ in texts if e.get("class") == "name"]
            self.assertEqual([name for name in names if "saxpy" in name], ["saxpy_w128 size=16Ki", "saxpy_w128 size=128Ki", "saxpy_w128 size=1Mi"])
            self.assertEqual(len(names), len(others) + 3)

    def test_sets_of_one_run_are_in_its_order_and_named_by_the_axis_that_tells_them_apart(self):
        maker = made.Maker()
        cells = []
        for comparison, (width, items) in enumerate((w, i) for w in ("512", "1024") for i in ("1", "2", "3")):
            for variant, seconds in (("wide", 4e-3 - 1e-3 * int(items)), ("loop", 9e-3), *([("roi", 2e-2)] if items == "1" else [])):
                cell = maker.record("pitch", variant, seconds, point={"width": width} | ({"items": items} if variant != "roi" else {}))
                cell["run"]["order"]["comparison"] = comparison
                cells.append(cell)
        made.write(self.folder / "r.jsonl", cells[:7])
        out = self.lab("report", "r.jsonl")[0]
        for items in "123":
            self.assertIn(f"At items={items}: pitch_wide is fastest", out)
        made.write(self.folder / "r.jsonl", cells)
        out = self.lab("report", "r.jsonl")[0]
        self.assertEqual(re.findall(r" 512 +([123]) ", out), ["1", "1", "2", "2", "3", "3"], out)

    def test_run_writes_markdown_and_chart_with_a_link(self):
        (self.folder / "sub").mkdir()
        out, _ = self.lab("run", "muladd_fma", "muladd_mad", "--device", "cpu", "--axis", "items=4096", "--no-dumps", "--no-yardstick", "--max-time", "0.02",
                          "--markdown", "sub/m.md", "--svg", "c.svg")
        self.assertIn("muladd_mad", out, "the table is printed too")
        self.assertIn("![the kernels, fastest first](<../c.svg>)", (self.folder / "sub" / "m.md").read_text())
        _, texts = self.picture((self.folder / "c.svg").read_text())
        self.assertEqual({e.text for e, _ in texts if e.get("class") == "name"}, {"muladd_fma", "muladd_mad"})
        _, err = self.lab("report", "r.jsonl", "--svg", "c.svg", status=2)
        self.assert_one_sentence(err, "c.svg", "already exists", "--force")

    def test_png_is_the_chart_in_colour_or_names_the_missing_program(self):
        _, err = self.lab("report", "r.jsonl", "--png", "c.png", status=3, env={"PATH": str(self.folder)})
        self.assert_one_sentence(err, "--png", "rsvg-convert", "librsvg2-bin", "--svg")
        self.assertFalse((self.folder / "c.png").exists())
        if not shutil.which("rsvg-convert"):
            self.skipTest("pictures of charts need rsvg-convert (Debian's librsvg2-bin)")
        (self.folder / "sub").mkdir()
        self.lab("report", "r.jsonl", "--png", "c.png", "--svg", "c.svg", "--markdown", "sub/m.md")
        self.assertIn("(<../c.svg>)", (self.folder / "sub" / "m.md").read_text())
        self.lab("report", "r.jsonl", "--png", "c.png", "--markdown", "m.md", "--force")
        self.assertIn("(<c.png>)", (self.folder / "m.md").read_text())
        root, _ = self.picture((self.folder / "c.svg").read_text())
        width, height, colours = pixels((self.folder / "c.png").read_bytes())
        self.assertEqual((width, height), (2 * float(root.get("width")), 2 * float(root.get("height"))))
        for colour in ("ffffff", "00785a", "6aaed6"):  # paper, the best, the others
            self.assertIn(bytes.fromhex(colour), colours)


if __name__ == "__main__":
    main()
