"""Points as a user meets them: what --axis gives is what the record says, and what a device cannot do ends no run."""
import unittest

from lab import LabTest, words


class Points(LabTest):
    def verified(self, *args, status=0):
        (self.folder / "r.jsonl").unlink(missing_ok=True)
        self.lab("run", *args, "--device", "cpu", "--verify", "--no-dumps", "--json", "r.jsonl", status=status)
        return self.records()

    def test_points_first_gives_one_point_per_variant_and_given_value(self):
        of_all = self.verified("muladd_fma", "latency_global", "--axis", "footprint=4Ki,8Ki", "--points", "first")
        self.assertEqual([(r["family"], r["point"].get("footprint")) for r in of_all],
                         [("latency", 4096), ("latency", 8192), ("muladd", None)])
        self.assertEqual(len(self.verified("latency_local", "--points", "first")), 1)
        _, err = self.lab("run", "muladd_fma", "--points", "frist", status=2)
        self.assert_one_sentence(err, "option '--points': expected all or first, found 'frist'; did you mean first?")

    def test_auto_follows_the_axis_it_names(self):
        (record,) = self.verified("gemm_naive", "--axis", "m=24")
        self.assertEqual(record["point"], {"m": 24, "n": 24, "k": 24, "pad": 0})

    def test_variant_records_only_its_own_axes(self):
        records = self.verified("pad_flat", "pad_constant", "--axis", "images=1", "--axis", "channels=2", "--axis", "k=1,2")
        self.assertEqual([(r["variant"], r["point"].get("k")) for r in sorted(records, key=lambda r: r["variant"])],
                         [("constant", 1), ("constant", 2), ("flat", None)])

    def test_impossible_combination_is_a_row_and_the_others_run(self):
        records = self.verified("latency_global", "--axis", "line=4096", "--axis", "footprint=2Ki,8Ki")
        self.assertEqual([r["status"] for r in records], ["unsupported", "ok"])
        self.assertIn("smaller than one line of 4 KiB", records[0]["reason"])

    def test_axis_missing_from_the_variant_is_a_usage_error(self):
        _, err = self.lab("run", "himeno_swap", "--axis", "lanes=4", "--device", "cpu", status=2)
        self.assert_one_sentence(err, "'himeno_swap' has no axis 'lanes'")

    def test_compared_variants_need_not_share_an_axis(self):
        out, _ = self.lab("isa", "gemm_tile8", "--vs", "gemm_naive", "--axis", "m=24", "--axis", "tile_k=16", "--device", "cpu")
        self.assertIn("gemm_naive", out)

    def test_sweep_is_a_table_followed_by_its_curve(self):
        """It was the curve alone: no device, status, rate or note, whatever --columns said."""
        out, _ = self.lab("run", "saxpy_w128", "--device", "cpu", "--axis", "size=1Ki:256Ki:*4", "--no-dumps", "--max-time", "0.02", "--columns", "time,bandwidth")
        table, _, curve = out.partition("saxpy_w128: time over size")
        self.assertRegex(table, r"kernel +size +status +time \[.*bandwidth|GB/s")
        self.assertEqual(len([line for line in table.splitlines() if line.startswith("  saxpy_w128 ")]), 5, out)
        self.assertIn("5 cells: 5 ok", table)
        self.assertEqual(len([line for line in curve.splitlines() if "Ki" in line]), 5, out)

    def test_tune_tries_distinct_possible_points_once(self):
        out, _ = self.lab("tune", "pitch_wide", "--device", "cpu", "--axis", "width=64", "--axis", "height=8", "--axis",
                          "local=auto,64x1,32x4", "--axis", "items=auto,1,2,2Ki", "--axis", "pitch=2", "--max-time", "0.02", timeout=300)
        # The local size is no choice on a CPU, and "auto" is one of the numbers on a machine with few cores.
        self.assertRegex(words(out), r"pitch_wide on '[^']*': 12 points of local, items, [34] distinct and possible on this device "
                                     r"all [34] tried; [34] have a time ")
        self.assertLessEqual(max(len(line) for line in out.splitlines() if "cllab run" not in line), 80)


if __name__ == "__main__":
    unittest.main()
