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
QUICK = ["special.shift", "special.rounding", "special.mul24"]


def only(*names):
    return [word for name in names for word in ("--only", name)]


class Behaviour(LabTest):
    def questions(self, *args, status=0, **more):
        out = json.loads(self.lab("behaviour", "--json", *args, status=status, **more)[0])
        self.assertEqual(out["schema"], "cllab behaviour 1")
        return out

    def test_the_table_says_question_claim_answer_and_consequence(self):
        out = self.lab("behaviour", *only(*QUICK))[0]
        page = words(out)
        for part in ("question", "claim", "what it does", "what follows", "special"):
            self.assertIn(part, page)
        self.assertIn("1 << 33 by a count at run time", page)
        self.assertIn("as the language says", page)
        self.assertNotIn("launch", page)

    def test_json_has_each_answer_with_its_claim_and_what_follows(self):
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

    def test_what_the_device_lacks_or_does_not_allow_is_not_tried(self):
        out = self.questions(*only("execution.local_beyond", "compile.option.-cl-nv*"))
        for question in out["questions"]:
            self.assertEqual(question["answers"][0]["status"], "not tried", question)
            self.assertTrue(question["answers"][0]["text"].startswith("not tried: "), question)

    def test_a_launch_that_the_driver_refuses_is_an_answer(self):
        refused = self.questions(*only("launch.uneven.CL1.2"))["questions"][0]["answers"][0]
        self.assertEqual((refused["status"], refused["so"]), ("answered", "round the global size up"))
        self.assertIn("CL_INVALID_WORK_GROUP_SIZE", refused["text"])

    def test_a_question_that_ends_the_process_is_told_and_the_others_are_asked(self):
        (self.folder / "bad.c").write_text(BAD_KERNELS)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "bad.so", self.folder / "bad.c"], check=True)
        out = self.questions(*only(*QUICK), status=1, env=self.environment(LD_PRELOAD=str(self.folder / "bad.so")))
        answers = {question["name"]: question["answers"][0] for question in out["questions"]}
        self.assertEqual([*answers], ["special.shift", "special.rounding", "special.mul24"])
        self.assertEqual(answers["special.shift"]["status"], "failed")
        self.assertIn("SIGABRT", answers["special.shift"]["text"])
        self.assertEqual(answers["special.rounding"]["status"], "answered")
        self.assertEqual(answers["special.mul24"]["status"], "answered")

    def test_two_devices_stand_side_by_side_and_differences_come_first(self):
        self.assertIsNotNone(OCLGRIND_LIBRARY, "Oclgrind's library is not there; apt-get install oclgrind")
        vendors = self.folder / "vendors"
        vendors.mkdir()
        shutil.copy("/etc/OpenCL/vendors/pocl.icd", vendors)
        (vendors / "oclgrind.icd").write_text(f"{OCLGRIND_LIBRARY}\n")
        env = self.environment(OCL_ICD_VENDORS=str(vendors), COLUMNS="300")
        args = ["--device", "all", *only("special.shift", "compile.kind")]
        page = words(self.lab("behaviour", *args, env=env)[0])
        self.assertLess(page.index("answered differently"), page.index("what CL_PROGRAM_BINARIES holds"))
        self.assertLess(page.index("what CL_PROGRAM_BINARIES holds"), page.index("answered alike"))
        self.assertLess(page.index("answered alike"), page.index("1 << 33"))
        out = self.questions(*args, env=env)
        self.assertEqual([len(question["answers"]) for question in out["questions"]], [2, 2])
        self.assertEqual([question["differs"] for question in out["questions"]], [False, True])

    def test_files_are_written_once_and_names_are_checked_before(self):
        _, err = self.lab("behaviour", *only("special.shaft"), status=2)
        self.assertIn("did you mean special.shift", err)
        self.lab("behaviour", "muladd", status=2)
        page = self.folder / "page.html"
        self.lab("behaviour", *only("special.shift"), "--html", page, f"--json={self.folder / 'a.json'}")
        self.assertIn("1 &lt;&lt; 33 by a count at run time", page.read_text())
        self.assertEqual(len(json.loads((self.folder / "a.json").read_text())["questions"]), 1)
        self.lab("behaviour", *only("special.shift"), "--html", page, status=2)
        self.lab("behaviour", *only("special.shift"), "--html", page, "--force")


if __name__ == "__main__":
    main()
