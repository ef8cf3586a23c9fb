"""`cllab behaviour`: questions to a runtime, the table, the files, and drivers that do not survive a question."""
import json
import shutil
import subprocess
import unittest

from lab import OCLGRIND_LIBRARY, LabTest, main, words

# Stands in front of the loader: one kernel ends the process when it is made.
BAD_KERNELS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
typedef void* Create(void*, const char*, int*);
void* clCreateKernel(void* program, const char* name, int* error) {
    if (strcmp(name, "shift") == 0) abort();
    return ((Create*)dlsym(RTLD_NEXT, "clCreateKernel"))(program, name, error);
}
"""
# Stands in front of the loader: CL_KERNEL_WORK_GROUP_SIZE is 16 for every kernel.
SMALL_GROUPS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
typedef int Info(void*, void*, unsigned, size_t, void*, size_t*);
int clGetKernelWorkGroupInfo(void* kernel, void* device, unsigned what, size_t room, void* value, size_t* size) {
    const int error = ((Info*)dlsym(RTLD_NEXT, "clGetKernelWorkGroupInfo"))(kernel, device, what, room, value, size);
    if (what == 0x11B0 && value) *(size_t*)value = 16;
    return error;
}
"""
QUICK = ["special.shift", "special.rounding", "special.mul24"]


def only(*names):
    return [word for name in names for word in ("--only", name)]


class Behaviour(LabTest):
    def questions(self, *args, status=0, **more):
        out = json.loads(self.lab("behaviour", "--json", *args, status=status, **more)[0])
        self.assertEqual(out["schema"], "cllab behaviour 1")
        return out

    def test_table_shows_question_claim_answer_and_consequence(self):
        out = self.lab("behaviour", *only(*QUICK))[0]
        page = words(out)
        for part in ("question", "claim", "what it does", "what follows", "special"):
            self.assertIn(part, page)
        self.assertIn("1 << 33 by a count at run time", page)
        self.assertIn("as the language says", page)
        self.assertNotIn("launch", page)

    def test_json_has_each_answer_with_claim_and_consequence(self):
        out = self.questions(*only("special.shift", "contraction.one.none", "ulp.plain.exp", "launch.empty"))
        self.assertEqual([question["name"] for question in out["questions"]],
                         ["launch.empty", "contraction.one.none", "special.shift", "ulp.plain.exp"])
        empty, contraction, shift, exp = (question["answers"][0] for question in out["questions"])
        self.assertEqual(len(out["devices"]), 1)
        self.assertIn("driver", out["devices"][0])
        self.assertEqual(shift, {"status": "answered", "text": "2", "measured": [], "claim": "2: the count is modulo 32",
                                 "so": "as the language says"})
        self.assertIn(contraction["text"], ("fused", "rounded twice"))
        self.assertIn(contraction["claim"], ("yes", "no"))
        self.assertGreater(exp["measured"][0], 0.4)
        self.assertLess(exp["measured"][0], 3)
        value, low, high = empty["measured"]
        self.assertLessEqual(low, value)
        self.assertLessEqual(value, high)

    def test_unsupported_questions_are_not_tried(self):
        out = self.questions(*only("execution.local_beyond", "compile.option.-cl-nv*"))
        for question in out["questions"]:
            self.assertEqual(question["answers"][0]["status"], "not tried", question)
            self.assertTrue(question["answers"][0]["text"].startswith("not tried: "), question)

    def test_refused_launch_is_an_answer(self):
        refused = self.questions(*only("launch.uneven.CL1.2"))["questions"][0]["answers"][0]
        self.assertEqual((refused["status"], refused["so"]), ("answered", "round the global size up"))
        self.assertIn("CL_INVALID_WORK_GROUP_SIZE", refused["text"])

    def test_question_that_kills_the_process_is_reported_and_others_run(self):
        (self.folder / "bad.c").write_text(BAD_KERNELS)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "bad.so", self.folder / "bad.c"], check=True)
        out = self.questions(*only(*QUICK), status=1, env=self.environment(LD_PRELOAD=str(self.folder / "bad.so")))
        answers = {question["name"]: question["answers"][0] for question in out["questions"]}
        self.assertEqual([*answers], ["special.shift", "special.rounding", "special.mul24"])
        self.assertEqual(answers["special.shift"]["status"], "failed")
        self.assertIn("SIGABRT", answers["special.shift"]["text"])
        self.assertEqual(answers["special.rounding"]["status"], "answered")
        self.assertEqual(answers["special.mul24"]["status"], "answered")

    def with_oclgrind(self, **more):
        """An environment in which PoCL and Oclgrind are the platforms."""
        self.assertIsNotNone(OCLGRIND_LIBRARY, "Oclgrind's library is not there; apt-get install oclgrind")
        vendors = self.folder / "vendors"
        vendors.mkdir()
        shutil.copy("/etc/OpenCL/vendors/pocl.icd", vendors)
        (vendors / "oclgrind.icd").write_text(f"{OCLGRIND_LIBRARY}\n")
        return self.environment(OCL_ICD_VENDORS=str(vendors), **more)

    def test_two_devices_are_side_by_side_with_differences_first(self):
        env = self.with_oclgrind(COLUMNS="300")
        args = ["--device", "all", *only("special.shift", "compile.kind")]
        page = words(self.lab("behaviour", *args, env=env)[0])
        self.assertLess(page.index("answered differently"), page.index("what CL_PROGRAM_BINARIES holds"))
        self.assertLess(page.index("what CL_PROGRAM_BINARIES holds"), page.index("answered alike"))
        self.assertLess(page.index("answered alike"), page.index("1 << 33"))
        out = self.questions(*args, env=env)
        self.assertEqual([len(question["answers"]) for question in out["questions"]], [2, 2])
        self.assertEqual([question["differs"] for question in out["questions"]], [False, True])

    def test_files_are_written_once_and_names_are_checked_first(self):
        _, err = self.lab("behaviour", *only("special.shaft"), status=2)
        self.assertIn("did you mean special.shift", err)
        self.lab("behaviour", "muladd", status=2)
        page = self.folder / "page.html"
        self.lab("behaviour", *only("special.shift"), "--html", page, f"--json={self.folder / 'a.json'}")
        self.assertIn("1 &lt;&lt; 33 by a count at run time", page.read_text())
        self.assertEqual(len(json.loads((self.folder / "a.json").read_text())["questions"]), 1)
        self.lab("behaviour", *only("special.shift"), "--html", page, status=2)
        self.lab("behaviour", *only("special.shift"), "--html", page, "--force")

    def kept(self):
        path, = self.folder.glob("cache/cllab/profiles/*/behaviour.json")
        return path

    def put_answers(self, **answers):
        """As if `cllab behaviour` had found these answers here: name=text, or name=(value, low, high)."""
        self.lab("behaviour", *only("special.shift"))
        kept = json.loads(self.kept().read_text())
        self.assertEqual([*kept["answers"]], ["special.shift"])
        for name, answer in answers.items():
            measured = [] if isinstance(answer, str) else list(answer)
            kept["answers"][name] = {"status": "answered", "text": str(answer), "measured": measured, "claim": "", "so": ""}
        self.kept().write_text(json.dumps(kept))
        return kept

    def forget(self, kept):
        """The same answers, of another driver."""
        self.kept().write_text(json.dumps(kept | {"device": kept["device"] | {"driver": "0.1"}}))

    def test_later_run_extends_stored_answers_and_no_dumps_stores_none(self):
        self.lab("behaviour", *only("special.shift"), "--no-dumps")
        self.assertEqual([*self.folder.glob("cache/cllab/profiles/*/behaviour.json")], [])
        for name in ("special.shift", "special.rounding"):
            self.lab("behaviour", *only(name))
        self.assertEqual([*json.loads(self.kept().read_text())["answers"]], ["special.rounding", "special.shift"])
        self.lab("behaviour", *only("special.mul24"), "--dumps", "d")
        self.assertEqual(len([*self.folder.glob("d/*/behaviour.json")]), 1)
        self.kept().write_text("{")
        (self.folder / "k.cl").write_text("kernel void k(global int* x) { x[get_global_id(0)] = 1; }\n")
        err = self.lab("run", "k.cl", "--global", "64", "--arg", "x=out:64", "--verify", "--no-dumps")[1]
        self.assertIn("is not what `cllab behaviour` writes", err)

    def run_kernel(self, body, *args, status=0, **more):
        (self.folder / "k.cl").write_text(body)
        err = self.lab("run", "k.cl", "--verify", "--no-dumps", "--json", "r.jsonl", "--force", *args, status=status, **more)[1]
        return self.records()[0], err

    def test_why_reports_the_cost_of_a_constant_pointer_on_this_device(self):
        kept = self.put_answers(**{"memory.constant.uniform": (0.98, 0.9, 1), "memory.constant.divergent": (4.12, 4, 4.2)})
        (self.folder / "k.cl").write_text("kernel void k(constant float* t, global float* x) { x[get_global_id(0)] = t[get_global_id(0) % 16]; }\n")
        why = ("why", "k.cl", "--global", "65536", "--arg", "t=rand:16", "--arg", "x=out:65536", "--max-time", "0.05", "--profile", "1")
        says = " ".join(self.lab(*why)[0].split())
        self.assertIn("a table through a __constant pointer takes 0.980 times as long as through __global const where the index is uniform", says)
        self.assertIn("a table through a __constant pointer takes 4.12 times as long as through __global const where the index is divergent", says)
        self.forget(kept)
        self.assertNotIn("__constant pointer takes", " ".join(self.lab(*why)[0].split()))

    def test_run_reports_the_cost_of_small_groups_on_this_device(self):
        body = "/*cllab\narg x = out:2053\nglobal 2053\n*/\nkernel void k(global int* x) { x[get_global_id(0)] = 1; }\n"
        kept = self.put_answers(**{"launch.prime": (72, 70, 74)})
        said = "1,000,003 items, a prime, take 72.0 times as long as 1,000,192"
        warnings = [w for w in self.run_kernel(body)[0]["warnings"] if w.startswith("driver-group")]
        self.assertEqual(len(warnings), 1)
        self.assertIn(said, warnings[0])
        self.forget(kept)
        self.assertNotIn(said, "".join(self.run_kernel(body)[0]["warnings"]))

    def test_run_names_build_options_without_effect_on_this_device(self):
        body = "/*cllab\narg x = out:64\nglobal 64\nlocal 8\n*/\nkernel void k(global int* x) { x[get_global_id(0)] = 1; }\n"
        kept = self.put_answers(**{"compile.option.-cl-mad-enable": "same code", "compile.option.-cl-no-signed-zeros": "other code"})
        options = "--build-options=-cl-mad-enable -cl-no-signed-zeros"
        err = self.run_kernel(body, options)[1]
        self.assertEqual(err.count("-cl-mad-enable changes nothing on this device: `cllab behaviour` found the same code with it"), 1, err)
        self.assertNotIn("-cl-no-signed-zeros changes", err)
        self.assertNotIn("changes nothing", self.run_kernel(body)[1])
        self.forget(kept)
        self.assertNotIn("changes nothing", self.run_kernel(body, options)[1])

    def test_isa_reports_the_cost_of_half_vectors_on_this_device(self):
        (self.folder / "k.cl").write_text(
            "/*cllab\narg src = rand:512\narg dst = out:512\nglobal 64\nlocal 8\n*/\n"
            "kernel void pack(global const float* src, global half* dst) {\n"
            "    const size_t i = get_global_id(0); vstore_half8_rte(vload8(i, src), i, dst); }\n"
            "kernel void one(global const float* src, global half* dst) {  // not vstore_half8\n"
            "    for (int k = 0; k < 8; ++k) vstore_half(src[8 * get_global_id(0) + k], 8 * get_global_id(0) + k, dst); }\n")
        said = ("pack calls vstore_half8_rte: on this device a copy of halves, 8 at a time by vload_half and vstore_half, "
                "has 0.242 times the speed of one of the same bytes by uint4")
        isa = ("isa", "k.cl:*", "--summary")
        self.assertNotIn("calls vstore_half", self.lab(*isa)[1])
        kept = self.put_answers(**{"memory.half.half8_": (0.242, 0.241, 0.243)})
        err = self.lab(*isa)[1]
        self.assertEqual(err.count("calls vstore_half"), 1, err)
        self.assertIn(said, err)
        self.forget(kept)
        self.assertNotIn("calls vstore_half", self.lab(*isa)[1])
        self.put_answers(**{"memory.half.half8_": (1.01, 1, 1.02)})
        self.assertNotIn("calls vstore_half", self.lab(*isa)[1])

    def test_tune_trusts_measured_group_sizes_over_the_query(self):
        (self.folder / "small.c").write_text(SMALL_GROUPS)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "small.so", self.folder / "small.c"], check=True)
        (self.folder / "k.cl").write_text("/*cllab\narg x = out:4096\nglobal 4096\n*/\nkernel void k(global int* x) { x[get_global_id(0)] = 1; }\n")
        env = self.environment(LD_PRELOAD=str(self.folder / "small.so"))
        tune = ("tune", "k.cl", "--axis", "local=16,64", "--max-time", "0.02")
        self.assertIn("1 have a time, 1 the device cannot do", " ".join(self.lab(*tune, env=env, status=None)[0].split()))
        kept = self.put_answers(**{"launch.group_beyond": "4096 run"})
        page = " ".join(self.lab(*tune, env=env)[0].split())
        self.assertIn("2 have a time", page)
        self.assertNotIn("the device cannot do", page)
        record = self.run_kernel((self.folder / "k.cl").read_text(), "--axis", "local=64", env=env)[0]
        self.assertEqual(record["status"], "ok", record)
        self.forget(kept)
        self.assertIn("1 the device cannot do", " ".join(self.lab(*tune, env=env, status=None)[0].split()))

    def test_check_on_another_device_reports_function_errors_of_both(self):
        env = self.with_oclgrind()
        body = ("/*cllab\narg src = rand:256:1:8\narg dst = out:256\nglobal 256\nlocal 8\n*/\nkernel void k(global const float* src, "
                "global float* dst) { float e = exp(src[get_global_id(0)]); dst[get_global_id(0)] = e - rint(e); }  // cancels the digits that agree\n")
        check = ["--device", "Portable", "--check", "device=Oclgrind Simulator"]
        self.assertNotIn("its results may differ", self.run_kernel(body, *check, env=env, status=None)[0]["reason"])
        self.lab("behaviour", "--device", "all", *only("ulp.plain.exp", "ulp.plain.log"), env=env)
        reason = self.run_kernel(body, *check, env=env, status=None)[0]["reason"]
        self.assertRegex(reason, r"the error of exp\(\) is up to [0-9.]+ ulp on the first and [0-9.]+ ulp on the second \(`cllab behaviour`\), so its results may differ")
        self.assertNotIn("log()", reason)


if __name__ == "__main__":
    main()
