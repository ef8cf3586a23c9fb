"""`cllab count`: what known kernels execute, in numbers that were worked out by hand."""
import counting
from lab import words


class Count(counting.CountTest):
    def test_arithmetic_is_counted_by_kind_and_width(self):
        found = self.of("polynomial", "division", "functions", "vectors", "calls")
        self.assertEqual(self.operations(found["polynomial"])["float_fma", 32, ""], 200)
        self.assertEqual(self.operations(found["division"])["integer_divide", 32, ""], 40)
        functions = self.operations(found["functions"])
        self.assertEqual({name for kind, _, name in functions if kind == "float_function"}, {"native_sin", "sqrt"})
        self.assertEqual(functions["float_fma", 64, ""], 1)
        self.assertEqual(functions["conversion", 64, ""], 3)
        self.assertEqual(self.operations(found["vectors"])["float_fma", 32, ""], 4)
        self.assertEqual(self.operations(found["vectors"])["float_multiply", 32, ""], 4)
        self.assertEqual(self.operations(found["calls"])["float_fma", 32, ""], 1.5)

    def test_constant_divisors_count_no_divisions_and_halves_convert(self):
        found = self.of("divisors", "halves")
        divisors = self.operations(found["divisors"])
        self.assertEqual((divisors["integer_divide", 32, ""], divisors["integer_multiply", 32, ""]), (1, 1))
        halves = self.operations(found["halves"])
        self.assertEqual((halves["conversion", 32, ""], halves["conversion", 16, ""]), (2, 2))

    def test_memory_functions_and_functions_without_arguments_are_counted(self):
        found = self.of("pointers", "copied", "meets")
        for kernel in found:
            self.assertEqual(found[kernel]["global"]["store_bytes"]["mean"], 4, kernel)
        self.assertEqual(found["pointers"]["private"]["store_bytes"]["mean"], 4)
        copied = found["copied"]
        self.assertEqual([copied["local"][of]["mean"] for of in ("load_bytes", "store_bytes")], [4, 4])
        self.assertEqual((copied["private"]["loads"]["mean"], copied["private"]["stores"]["mean"]), (0, 0), "its event")
        self.assertEqual(found["meets"]["barriers"]["mean"], 2)
        self.assertEqual(self.operations(found["meets"])["float_multiply", 32, ""], 2)

    def test_a_negation_is_part_of_another_operation(self):
        operations = self.operations(self.of("subtracts")["subtracts"])
        self.assertEqual((operations["float_add", 32, ""], operations["float_fma", 32, ""]), (1, 1))

    def test_printed_text_is_not_constant_memory(self):
        self.assertEqual(self.of("says")["says"]["constant"]["loads"]["mean"], 0)

    def test_opencl_3_file_is_counted(self):
        (self.folder / "three.cl").write_text("/*cllab\noptions -cl-std=CL3.0\narg y = out:64\nglobal 64\n*/\n"
                                              "kernel void k(global double* y) { y[get_global_id(0)] = 2; }\n")
        out, _ = self.lab("count", "three.cl")
        self.assertRegex(out, r"bytes written +8\b")

    def test_barrier_that_some_items_skip_is_reported(self):
        counts = self.of("some_wait")["some_wait"]
        self.assertEqual([n["what"] for n in counts["not_counted"]], ["waiting at a barrier that some never reach"])

    def test_command_about_an_access_outside_has_the_file_and_its_options(self):
        (self.folder / "far.cl").write_text("/*cllab\narg x = rand:64\narg y = out:64\narg k = 0\nglobal 64\n*/\n"
                                            "kernel void far(global const float* x, global float* y, int k) { int i = get_global_id(0); y[i] = x[i + k]; }\n")
        out, _ = self.lab("count", "far.cl", "--arg", "k=2")
        self.assertIn("the kernel is wrong there; `cllab run far.cl:far --check oclgrind --arg k=2` says where", words(out))

    def test_constant_memory_is_not_global_memory(self):
        counts = self.of("constants")["constants"]
        self.assertEqual(counts["constant"]["load_bytes"]["mean"], 4 + 8 + 4)
        self.assertEqual((counts["global"]["load_bytes"]["mean"], counts["reads"]["requests"]["mean"]), (0, 0))

    def test_vector_elements_are_one_access(self):
        found = self.of("threes", "elements", "corners")
        for kernel, of, bytes in (("threes", "store", 12), ("elements", "store", 16), ("elements", "load", 16),
                                  ("corners", "store", 16)):
            accesses = found[kernel]["global"]
            self.assertEqual((accesses[of + "s"]["mean"], accesses[of + "_bytes"]["mean"]), (1, bytes), (kernel, of))
        self.assertEqual(self.per_request(found["threes"]["writes"], "sectors"), 4, "eight vectors, four lanes each")

    def test_arguments_are_not_accesses(self):
        self.assertEqual(self.of("by_value")["by_value"]["private"]["loads"]["mean"], 0)

    def test_narrow_integers_from_switches_are_computed_right(self):
        found = self.of("quarters", "eighths", "signed_bits")
        for kernel, counts in found.items():
            self.assertNotIn("not_counted", counts, kernel)
        self.assertEqual(self.operations(found["quarters"])["integer_multiply", 32, ""], 0.75, "i * 3, i * 5, i / 3")
        # Of eight lanes the k-th has 100 k divisions, and one that has no case none.
        self.assertEqual(self.operations(found["eighths"])["integer_divide", 32, ""], sum(100 * k for k in range(7)) / 8)
        self.assertEqual(self.operations(found["signed_bits"])["float_fma", 32, ""], 10 / 4, "two bits that are -2 have ten")

    def test_requests_touch_the_sectors_of_their_addresses(self):
        found = self.of("copy", "gather", "transpose", "shared")
        for kernel, read, written in (("copy", 4, 4), ("gather", 32, 4), ("transpose", 4, 16), ("shared", 1, 4)):
            self.assertEqual(self.per_request(found[kernel]["reads"], "sectors"), read, kernel)
            self.assertEqual(self.per_request(found[kernel]["writes"], "sectors"), written, kernel)
            self.assertEqual(found[kernel]["global"]["load_bytes"]["mean"], 4)
            self.assertEqual(found[kernel]["global"]["store_bytes"]["mean"], 4)
        self.assertEqual(self.per_request(found["transpose"]["writes"], "least_sectors"), 4)
        self.assertEqual(found["shared"]["footprint"][-1]["read_sectors"], 1)
        groups = found["copy"]["footprint"]
        self.assertEqual([f["groups"] for f in groups], [1, 2, 4, 8, 16, 32, 64, 120])
        for f in groups:
            self.assertEqual((f["sectors"], f["bytes"]), (64 * f["groups"], 2048 * f["groups"]))

    def test_bank_conflicts_are_serialised(self):
        found = self.of("tile32", "tile33", "small32", "small17")
        mean = {k: sum(c[side]["ways"]["mean"] for side in ("local_reads", "local_writes")) /
                sum(c[side]["requests"]["mean"] for side in ("local_reads", "local_writes")) for k, c in found.items()}
        self.assertEqual((mean["small32"], mean["small17"]), (9, 2))
        self.assertEqual(self.per_request(found["tile32"]["local_reads"], "ways"), 32)
        self.assertEqual(self.per_request(found["tile33"]["local_reads"], "ways"), 1)
        for counts in found["tile32"], found["tile33"]:
            self.assertEqual(self.per_request(counts["local_writes"], "ways"), 1)
            self.assertEqual(counts["barriers"]["mean"], 1)
            self.assertEqual(counts["longest"]["local_loads"], 1)

    def test_atomics_on_one_address_are_serialised(self):
        found = self.of("one_address", "ten_addresses")
        one, ten = found["one_address"]["global_atomics"], found["ten_addresses"]["global_atomics"]
        self.assertEqual((one["number"]["mean"], one["addresses"]), (1, 1))
        self.assertEqual((one["most_in_wave"], one["most_in_group"]), (32, 256))
        self.assertEqual(one["most_on_address"], found["one_address"]["counted_items"])
        self.assertEqual((ten["most_in_wave"], ten["most_in_group"], ten["addresses"]), (4, 26, 10))

    def test_a_chain_is_as_long_as_its_hops(self):
        found = self.of("chase", "polynomial", "copy", "through_local", "copied", "through_private")
        self.assertEqual(found["through_local"]["longest"]["loads"], 2, "the chain goes on behind local memory")
        self.assertEqual(found["chase"]["longest"]["loads"], 50)
        self.assertEqual(found["copied"]["longest"]["loads"], 1, "the copy's")
        self.assertEqual(found["through_private"]["path"]["loads"], 1)
        self.assertEqual(found["copy"]["longest"]["loads"], 1)
        self.assertEqual(found["polynomial"]["longest"]["arithmetic"], 201, "a conversion, and each fma")

    def test_lanes_in_another_branch_are_idle(self):
        # Beside other work the budget of a user may end within the first group.
        found = self.of("odd_lanes", "loops_in_loops", "polynomial", options=("--count-budget", "12"))
        self.assertEqual(found["polynomial"]["lanes_active"], 1)
        self.assertAlmostEqual(found["odd_lanes"]["lanes_active"], 0.5, delta=0.01)
        # Each lane's two inner loops have 1001 trips, and a wave's 2000: the long ones of even and odd lanes are apart.
        self.assertAlmostEqual(found["loops_in_loops"]["lanes_active"], 0.5, delta=0.01)
        narrow = self.of("odd_lanes", options=("--wave", "1"))["odd_lanes"]
        self.assertEqual((narrow["wave"], narrow["lanes_active"]), (1, 1))

    def test_small_launch_is_counted_completely_and_large_one_in_part(self):
        found = self.of("copy", "whole")
        self.assertEqual((found["whole"]["groups"], found["whole"]["counted_groups"]), (1, 1))
        self.assertEqual((found["copy"]["groups"], found["copy"]["counted_groups"]), (256, 120))
        self.assertEqual(found["copy"]["items"], 65536)

    def test_record_and_comparison_name_uncounted_rare_groups(self):
        """One group of 1,024 does most of the work, and the others alone were drawn."""
        block = "/*cllab\narg b = zero:65536\nglobal 1048576\nlocal 64\n*/\n"
        body = "{ const int i = get_global_id(0); float v = i; for (int t = 0; t < (%s); ++t) v = sqrt(v); b[i & 65535] = v; }\n"
        (self.folder / "rare.cl").write_text(block + "kernel void rare(global int* b) " + body % "(get_group_id(0) & 1023) == 513 ? 5000 : 2"
                                             + "kernel void even(global int* b) " + body % "4")
        out, _ = self.lab("count", "rare.cl:rare", "--vs", "rare.cl:even", "--json", "c.jsonl")
        rare, even = self.records("c.jsonl")
        self.assertTrue(0.001 < rare["unlike_groups"] < 0.1, rare["unlike_groups"])
        self.assertNotIn("unlike_groups", even)
        said = " ".join(out.split())
        self.assertRegex(said, r"With 95 % confidence, at most [\d.]+ % of the work-groups execute something else than the counted ones\.")
        roots = next(o["per_item"] for o in rare["operations"] if o["kind"] == "float_function")
        if roots["high"] == 2:
            self.assertNotIn("mean", roots)
            self.assertTrue(1.8 < roots["at_least"] < 2, roots)
            self.assertRegex(said, "Not known, and so not compared: [^.]*floating-point operations")
        else:
            self.assertGreater(roots["mean"] + roots["margin"], 6.88)
        self.assertNotIn("the floating-point operations in rare_even", said)

    def test_mean_has_no_upper_end_if_loops_vary_between_groups(self):
        block = "/*cllab\narg b = zero:65536\narg n = 2097792\nglobal 1048576\nlocal 64\n*/\n"
        body = "{ int i = get_global_id(0); float v = i; %s b[i & 65535] = v; }\n"
        trips = {"strides": "for (int j = i; j < n; j += get_global_size(0)) v = sqrt(v);",
                 "noisy": "for (int k = 0; k < (i / 64 % 1024 == 513 ? 5000 : 2 + (i / 64 & 1)); ++k) v = sqrt(v);",
                 "called": "v = roots(v, i / 64 % 1024 == 513 ? 5000 : 2);",
                 "broken": "for (int k = 0; k < 5000; ++k) { v = sqrt(v); if (k > 0 && i / 64 % 1024 != 513) break; }"}
        (self.folder / "k.cl").write_text(block + "float __attribute__((noinline)) roots(float v, int n) { for (int k = 0; k < n; ++k) "
                                          "v = sqrt(v); return v; }\n" +
                                          "".join(f"kernel void {name}(global int* b, int n) " + body % loop for name, loop in trips.items()))
        self.lab("count", "k.cl", "--count-budget", "2", "--json", "c.jsonl")
        roots = {c["kernel"]: next(o["per_item"] for o in c["operations"] if o["kind"] == "float_function") for c in self.records("c.jsonl")}
        self.assertAlmostEqual(roots["strides"]["mean"], 2, delta=0.01, msg="trips that grow with the place are alike, or between those of the counted groups")
        self.assertNotIn("open", roots["strides"])
        self.assertTrue(roots["noisy"]["open"])
        for name in "called", "broken":
            self.assertTrue("at_least" in roots[name] or roots[name].get("open"), (name, roots[name]))

    def test_groups_represent_a_launch_of_growing_work(self):
        loads = self.of("grows", options=("--count-budget", "20"))["grows"]["global"]["loads"]
        self.assertEqual((loads["low"], loads["high"]), (1, 256))
        self.assertAlmostEqual(loads["mean"], 128.5, delta=6)
        for budget in "4", "8", "16", "2":  # how many groups that is enough for is a matter of the machine
            few = self.of("grows_few", options=("--count-budget", budget))["grows_few"]
            if 6 <= few["counted_groups"] < 15:
                break
        if few["counted_groups"] not in range(6, 15):
            self.skipTest("no budget here counts 6 to 14 of the 16 groups")
        self.assertAlmostEqual(self.operations(few)["float_fma", 32, ""] / 8.5 / 200, 1, delta=0.08)

    def test_uncountable_launch_leaves_the_other_counts(self):
        (self.folder / "wide.cl").write_text("""/*cllab
axis n = 2048
arg y = out:n
arg n = n
global n
kernel wide
local 1024
*/
kernel void wide(global float* y, uint n) {
    float v = get_global_id(0);
    for (uint k = 0; k < 100000000; ++k) v = fma(v, 0.5f, k);
    y[get_global_id(0)] = v;
}
kernel void narrow(global float* y, uint n) { y[get_global_id(0)] = 1; }
""")
        out, err = self.lab("count", "wide.cl", "--count-budget", "1", "--json", "counts.jsonl", status=1)
        self.assertIn("wide_wide: not counted: simulating one work-group takes longer than --count-budget", err)
        self.assertEqual(sorted((line["id"], line.get("refused")) for line in self.records("counts.jsonl")), [("wide_narrow", None), ("wide_wide", "timed_out")])

    def test_variants_are_side_by_side_with_differing_rows_marked(self):
        (self.folder / "k.cl").write_text(counting.KERNELS)
        out, err = self.lab("count", "k.cl:copy", "k.cl:gather")
        self.assertRegex(out, r"(?m)^ +k_copy +k_gather$")
        self.assertRegex(out, r"(?m)^\* sectors per read \(least\) +4 \(4\) +32 \(4\)$")
        self.assertRegex(out, r"(?m)^  bytes read +4 +4$")
        self.assertRegex(out, r"k\.cl:\d+: 36 sectors \(least 8\)")

    def test_variant_after_vs_is_counted_and_compared(self):
        (self.folder / "k.cl").write_text(counting.KERNELS)
        for other in "k.cl:gather", "gather":
            out, _ = self.lab("count", "k.cl:copy", "--vs", other)
            self.assertEqual(words(out.split("\n\n")[-1]), "Counted: k_gather has 4.5 times as many sectors of global memory, and only k_gather "
                                                            "has integer divisions.")
        (self.folder / "o.cl").write_text("/*cllab\narg b = out:256\nglobal 256\n*/\n#ifndef ONCE\n#define ONCE 0\n#endif\n"
                                          "kernel void f(global int* b) { int i = get_global_id(0); b[i] = ONCE ? i : i / (b[i] | 1); }\n")
        out, _ = self.lab("count", "o.cl", "--vs=-DONCE=1", "--json", "counts.jsonl", "--force")
        self.assertIn("only o_f has integer divisions", words(out.split("\n\n")[-1]))
        self.assertEqual([line["id"] for line in self.records("counts.jsonl")], ["o_f", "o_f -DONCE=1"])
        out, _ = self.lab("count", "k.cl:copy", "k.cl:gather", "k.cl:tile32")
        self.assertNotIn("Counted:", out)
        _, err = self.lab("count", "k.cl:copy", "--vs", "best", status=2)
        self.assert_one_sentence(err, "measures no times")
        _, err = self.lab("why", "k.cl:copy", "--vs", "k.cl:gather", status=2)
        self.assertIn("name both", err)

    def test_families_of_cllab_are_counted(self):
        found = self.counts("saxpy_*", "banks_pair")
        self.assertEqual({line["id"].split("_")[0] for line in found.values()}, {"saxpy", "banks"})
        wide, narrow = found["saxpy_w512"], found["saxpy_w32"]
        self.assertEqual(wide["global"]["load_bytes"]["mean"], 16 * narrow["global"]["load_bytes"]["mean"])

    def test_kernels_of_one_operation_share_the_budget(self):
        small = ("--axis", "images=8", "--axis", "channels=8")
        found = self.counts("batchnorm_channel_wide", *small, "--count-budget", "2")
        self.assertEqual({k: c["launch"] for k, c in found.items()},
                         {"batchnorm_partial": "1 of 2", "batchnorm_apply": "2 of 2"})
        self.assertLess(found["batchnorm_partial"]["seconds"], 1.1)
        # Nothing that the second one loads decides what it does.
        self.assertEqual({kernel: c.get("not_counted", []) for kernel, c in self.counts("reduce_tree4").items()},
                         {"reduce_tree4": [], "reduce_second": []})


if __name__ == "__main__":
    counting.main()
