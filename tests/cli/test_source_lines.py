"""Source lines of machine code on PoCL: `isa --source`, lines.txt in a dump, and the page of `run --html`."""
import re

import lab
from lab import LabTest

KERNEL = """/*cllab
arg x = rand:4096
arg y = out:4096
global 4096
local 64
*/
float weight(float v) {
    return sqrt(v);                           // the root
}
kernel void k(global const float* restrict x, global float* restrict y) {
    const int i = get_global_id(0);
    float a = 0;
    for (int j = 0; j < 64; ++j)
        a = fma(a, 0.5f, x[j]);               // the multiply-add
    y[i] = a / (weight(x[i]) + 1.0f);         // the division
}
"""


def instructions(listing):
    """Address, instruction and what is named in front of it, of each line of a listing."""
    out, place = [], ""
    for line in listing.splitlines():
        if line.startswith("// "):
            place = line
        elif m := re.match(r" +([0-9a-f]+):\s+(\S.*)", line):
            out.append((m[1], m[2], place))
    return out


class SourceLines(LabTest):
    SMALL = ["--device", "cpu", "--axis", "width=256", "--axis", "height=64"]

    def kernel(self, text=KERNEL):
        (self.folder / "k.cl").write_text(text)

    def test_each_instruction_is_below_its_source_line(self):
        self.kernel()
        found = instructions(self.lab("isa", "k.cl", "--device", "cpu", "--source")[0])
        for mnemonic, words, no_words in (("v?div", "the division", "multiply"), ("v?r?sqrt", "the root", "multiply"), ("vfn?m(add|sub)", "the multiply-add", "root")):
            places = [place for _, text, place in found if re.match(mnemonic, text)]
            if not places:
                self.assertEqual(mnemonic, "vfn?m(add|sub)", "which not every processor has")
                continue
            self.assertTrue(any(words in place for place in places), (mnemonic, places))
            self.assertFalse(any(no_words in place for place in places), (mnemonic, places))
        numbers = {int(n) for _, _, place in found for n in re.findall(r"k\.cl:(\d+)  ", place)}
        self.assertLessEqual({8, 13, 14, 15}, numbers)
        for number in numbers:
            self.assertIn(f"k.cl:{number}  {KERNEL.splitlines()[number - 1].strip()}", {place[3:] for _, _, place in found})

    def test_the_listing_with_lines_is_the_code_that_runs_without_them(self):
        for variant in "pitch_implicit", "pitch_swar", "saxpy_w32", "gemm_tile8":
            with self.subTest(variant):
                axes = self.SMALL if variant.startswith("pitch") else ["--device", "cpu"]
                plain = self.lab("isa", variant, *axes)[0]
                env = self.environment(POCL_CACHE_DIR=str(self.folder / variant))
                self.lab("isa", variant, *axes, "--source", env=env)
                lined, err = self.lab("isa", variant, *axes, "--source", env=env)  # of what PoCL has kept
                self.assertNotIn("no source lines", lined)
                self.assertNotIn("dbg", err, "LLVM calls the debug information wrong")
                self.assertEqual([(a, t) for a, t, _ in instructions(plain)], [(a, t) for a, t, _ in instructions(lined)])
                named = [place for _, _, place in instructions(lined) if re.match(r"// \w+\.(cl|h):\d+  \S", place)]
                self.assertGreater(len(named), 20)
                self.assertGreater(2 * len(named), len(instructions(lined)))

    def test_page_adds_lines_to_the_dump_and_a_plain_run_removes_them(self):
        self.kernel()
        run = ["run", "k.cl", "--device", "cpu", "--max-time", "0.05", "--no-yardstick", "--json", "r.jsonl", "--force"]
        self.lab(*run)
        dump = self.folder / self.records()[0]["dump"]
        self.assertFalse((dump / "lines.txt").exists())
        _, err = self.lab(*run, "--html", "page.html", env=self.environment(POCL_CACHE_DIR=str(self.folder / "cache")))
        self.assertNotRegex(err, "source lines|dbg")
        rows = (dump / "lines.txt").read_text().splitlines()[1:]
        self.assertTrue(all(re.fullmatch(r"[0-9a-f]+ (k\.cl:\d+)?", row) for row in rows), rows)
        self.assertIn("lines.txt", (dump / "files.txt").read_text().splitlines())
        self.assertEqual(self.records()[0]["build"]["options"].count("-g"), 0)
        self.lab("report", "r.jsonl", "--html", "again.html")
        for page in "page.html", "again.html":
            text = (self.folder / page).read_text()
            number = re.search(r'<span data-l="(\d+)">.*the multiply-add</span>', text)[1]
            self.assertRegex(text, rf'<span class="k-\w+" data-l="{number}"><i>V</i>')
            self.assertIn("// Instructions are also of these lines:\n", text)
            self.assertRegex(text, r'<span data-l="\d+">    return sqrt\(v\);')
        self.lab(*run)
        self.assertFalse((dump / "lines.txt").exists())

    def test_lines_of_other_code_are_never_shown(self):
        # Only the build for lines has the define.
        self.kernel(KERNEL.replace("float a = 0;", "float a = 0;\n#ifdef LAB_LINES\n    volatile float zero = 0; a = zero;\n#endif"))
        sentence = "built with -g -DLAB_LINES the code is another one"
        out, _ = self.lab("isa", "k.cl", "--device", "cpu", "--source")
        self.assertIn("no source lines: " + sentence, lab.words(out))
        self.assertEqual({place for _, _, place in instructions(out) if place.startswith("// k.cl")}, set())
        _, err = self.lab("run", "k.cl", "--device", "cpu", "--max-time", "0.05", "--no-yardstick", "--html", "page.html")
        self.assertIn("no source lines of k: " + sentence, lab.words(err))
        self.assertNotIn("<span data-l=", (self.folder / "page.html").read_text())

    def test_failed_build_with_lines_does_not_affect_the_measurement(self):
        self.kernel(KERNEL + "#ifdef LAB_LINES\n#error no lines\n#endif\n")
        out, err = self.lab("run", "k.cl", "--device", "cpu", "--max-time", "0.05", "--no-yardstick", "--html", "page.html")
        self.assertRegex(out, r"(?m)^ *k_k +ok ")
        self.assertIn("no source lines of k: built with -g -DLAB_LINES it is build_failed: ", lab.words(err))
        self.assertIn("the multiply-add", (self.folder / "page.html").read_text())


if __name__ == "__main__":
    lab.main()
