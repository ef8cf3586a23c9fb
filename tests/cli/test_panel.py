"""make-panel, and the whole way from a picture of a panel to its defects found."""
import csv
import io
import json
import unittest

from lab import SOURCE, LabTest

MAKE_PANEL = SOURCE / "tools" / "make-panel"


def read_pgm(path):
    """(width, height, pixels) of a binary PGM as make-panel and --output write it."""
    kind, size, most, pixels = path.read_bytes().split(b"\n", 3)
    assert (kind, most) == (b"P5", b"255")
    width, height = map(int, size.split())
    assert len(pixels) == width * height
    return width, height, pixels


class MakePanel(LabTest):
    def draw(self, *args, **more):
        return self.lab(*args, program=MAKE_PANEL, **more)

    def test_same_seed_draws_the_same_image_and_another_does_not(self):
        for name, seed in (("a.pgm", 3), ("b.pgm", 3), ("c.pgm", 4)):
            self.draw(name, "--seed", seed, "--width", 400, "--height", 300, "--defects", 2)
        a, b, c = (read_pgm(self.folder / n)[2] for n in ("a.pgm", "b.pgm", "c.pgm"))
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)

    def test_csv_and_json_lists_agree(self):
        rows = list(csv.DictReader(io.StringIO(self.draw("--list")[0])))
        same = json.loads(self.draw("--list", "--json")[0])
        self.assertEqual(len(rows), 6)
        self.assertEqual(rows, [{k: str(v) for k, v in d.items()} for d in same])

    def test_only_listed_boxes_differ_from_the_good_panel(self):
        sound = ["--width", 600, "--height", 400, "--noise", 0]
        self.draw("sound.pgm", "--defects", 0, *sound)
        boxes = json.loads(self.draw("bad.pgm", "--defects", 4, "--list", "--json", *sound)[0])
        width, height, good = read_pgm(self.folder / "sound.pgm")
        bad = read_pgm(self.folder / "bad.pgm")[2]
        inside = bytearray(width * height)
        for box in boxes:
            changed = 0
            for y in range(box["top"], box["bottom"] + 1):
                for x in range(box["left"], box["right"] + 1):
                    inside[y * width + x] = 1
                    changed = max(changed, abs(bad[y * width + x] - good[y * width + x]))
            self.assertGreater(changed, 30, box)
        self.assertEqual([i for i in range(width * height) if not inside[i] and abs(bad[i] - good[i]) > 1], [])

    def test_each_mistake_exits_2_with_its_sentence(self):
        for args, part in ((["--widht", "5", "x.png"], "--widht"), (["--pitch", "abc", "x.png"], "abc"),
                           (["--pitch", "1", "x.png"], "--pitch must be from 2"), (["x.jpg"], ".png or .pgm"), ([], "no file"),
                           (["--width", "50", "--height", "50", "x.png"], "no room for 6 defects"),
                           (["--json", "x.png"], "--list"), (["a.png", "b.png"], "unrecognized arguments: b.png")):
            with self.subTest(args=" ".join(args)):
                out, err = self.draw(*args, status=2)
                self.assertEqual(out, "")
                self.assertRegex(err, r"\Amake-panel: [^\n]+\n\Z")
                self.assertIn(part, err)


class Panel(LabTest):
    def test_the_difference_map_shows_each_defect_and_nothing_else(self):
        for name in ("panel.png", "panel.pgm"):
            boxes = json.loads(self.lab(name, "--width", 800, "--height", 500, "--defects", 4, "--list", "--json",
                                        program=MAKE_PANEL)[0])
            self.lab("--device", "cpu", "--kernel", "pitch_wide", "--input", f"src={name}", "--output", "dst=map.pgm", "--force",
                     "--verify", "--no-dumps")
            width, height, found = read_pgm(self.folder / "map.pgm")
            self.assertEqual((width, height), (800, 500))
            quiet = bytearray(found)
            reach = 22  # an echo stands one pitch of 20.2 to either side
            for box in boxes:
                strongest = 0
                for y in range(box["top"], box["bottom"] + 1):
                    row = y * width
                    strongest = max(strongest, *found[row + box["left"]:row + box["right"] + 1])
                    left, right = max(0, box["left"] - reach), min(width, box["right"] + reach + 1)
                    quiet[row + left:row + right] = bytes(right - left)
                self.assertGreater(strongest, 20, box)
            self.assertLess(max(quiet), 15)


if __name__ == "__main__":
    unittest.main()
