"""Source lines and their instructions on the page: pointing at one marks the other."""
import re

from browser import BrowserTest, Keys  # which finds the modules of tests/cli
from lab import main


class Lines(BrowserTest):
    def lined_records(self):
        """With lines of one dump: the innermost loop, from 0x1f40, is of line 3 but for two instructions, and other code of lines 2 and 4."""
        records = self.plain_records()
        dump = self.folder / "dumps" / "cpu" / "pitch_short8"
        rows = ("19f0 <kernel>:2", "1f40 <kernel>:3", "1f4d ", "1f55 <kernel>:3", "2008 <kernel>:4", "200c <kernel>:3", "2030 <kernel>:4", "23a0 ")
        (dump / "lines.txt").write_text("title\n" + "\n".join(rows) + "\n")
        return records

    MARKED = """const on = Array.from(document.querySelectorAll('.on')), isa = e => e.closest('.isa'), whole = e => e.closest('.whole');
        return [on.filter(e => !isa(e)).map(e => e.textContent.trim()), on.filter(e => isa(e) && !whole(e)).map(e => e.textContent), on.filter(whole).length]"""
    POINT = """const at = Array.from(document.querySelectorAll(arguments[0])).find(e => e.textContent.includes(arguments[1]));
        at.dispatchEvent(new PointerEvent(arguments[2], {bubbles: true, pointerType: arguments[3]}))"""

    def test_source_lines_and_instructions_highlight_each_other(self):
        self.open(self.make(self.lined_records()))
        self.js("for (const d of document.querySelectorAll('details')) d.open = true")
        listing = self.js("return Array.from(document.querySelector('.code .isa').querySelectorAll('span')).map(e => e.textContent)")
        self.js(self.POINT, ".source [data-l]", "dst[0] = 1;", "pointerover", "mouse")
        lines, loop, whole = self.js(self.MARKED)
        self.assertEqual(lines, ["dst[0] = 1;"])
        of_others = [text for text in listing if text not in loop]
        self.assertEqual([re.sub(r"\W.*", "", text[1:]) for text in of_others], ["vpmullw", "vpmullw", "vpackuswb"])
        self.assertGreater(len(loop), 20)
        self.assertGreater(whole, len(loop), "the code before the loop's end and behind it is in the whole function")
        for kind, left in ("touch", len(loop)), ("mouse", 0):
            self.js(self.POINT.replace("bubbles: true", "bubbles: false"), ".source", "dst[0] = 1;", "pointerleave", kind)
            self.assertEqual(len(self.js(self.MARKED)[1]), left)
        self.js(self.POINT, ".isa [data-l]", "vpackuswb", "pointerover", "touch")
        self.assertEqual([self.js(self.MARKED)[0], len(self.js(self.MARKED)[1])], [["}"], 1])
        self.assertEqual(self.js("return Array.from(document.querySelectorAll('.isa span:not([data-l])')).length > 1"), True)
        # What the keyboard moves is the line, and the instructions of it come into sight in their own box.
        self.browser.find_element("css selector", ".source").send_keys(Keys.ARROW_UP)
        self.assertEqual(self.js(self.MARKED)[0], ["dst[0] = 1;"])
        self.browser.find_element("css selector", ".source").send_keys(Keys.ARROW_UP)
        self.assertEqual(self.js(self.MARKED)[0][0][:6], "kernel")
        self.browser.find_element("css selector", ".source").send_keys(Keys.ARROW_DOWN)
        self.assertEqual(self.js("""return Array.from(document.querySelectorAll('.code .isa')).map(pane => { const box = pane.getBoundingClientRect();
            return Array.from(pane.querySelectorAll('.on')).some(e => { const b = e.getBoundingClientRect(); return b.top >= box.top && b.bottom <= box.bottom; }); })"""), [True, True])
        self.browser.find_element("css selector", ".source").send_keys(Keys.ESCAPE)
        self.assertEqual(self.js(self.MARKED), [[], [], 0])
        self.assert_quiet()

    def test_marks_are_visible_in_both_color_schemes_at_every_width(self):
        page = self.make(self.lined_records())
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
        color = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
        for scheme in "light", "dark":
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            self.open(page)
            before = {tint: self.js(color, f".isa .k-{tint}") for tint in ("memory", "vector")}
            self.js(self.POINT, ".source [data-l]", "dst[0] = 1;", "pointerover", "mouse")
            marked = {self.js(color, where) for where in (".isa .k-memory.on", ".isa .k-vector.on", ".source .on")}
            self.assertEqual(len(marked), 1, scheme)
            self.assertFalse(marked & (set(before.values()) | {self.js(color, ".code")}), scheme)
        for width in 360, 1280, 2560:
            self.resize(width)
            self.js("for (const d of document.querySelectorAll('details')) d.open = true")
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), width)
        (self.folder / "dumps" / "cpu" / "pitch_short8" / "lines.txt").unlink()
        self.lab("report", "r.jsonl", "--html", "page.html", "--force")
        self.open(page)
        self.assertEqual(self.js("return document.querySelectorAll('[data-l], .whole').length"), 0)
        self.assertNotIn("arrow keys", self.js("return document.querySelector('main').textContent"))
        self.assert_quiet()


if __name__ == "__main__":
    main()
