"""Debian's chromium, driven by python3-selenium, for the tests of the page of `cllab report --html`. One browser for all tests of a class."""
import json
import pathlib
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import made
from lab import SOURCE, LabTest, use_debians_python

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.keys import Keys
except ImportError:
    use_debians_python()
    webdriver = Keys = None
DRIVER = shutil.which("chromedriver")


def start_browser():
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1280,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(DRIVER), options=options)


@unittest.skipUnless(webdriver and DRIVER, "the browser's tests need chromium, chromium-driver and python3-selenium (Debian's packages)")
class BrowserTest(LabTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = start_browser()
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setScriptExecutionDisabled", {"value": False})
        self.resize(1280)

    def resize(self, width):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def wait_until(self, condition, message):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end, message)
            time.sleep(0.02)

    def make(self, records, name="page.html"):
        made.write(self.folder / "r.jsonl", records)
        self.lab("report", "r.jsonl", "--html", name, "--force")
        return self.folder / name

    def open(self, page, fragment=""):
        self.browser.get("about:blank")
        self.browser.get_log("browser"), self.browser.get_log("performance")
        self.browser.get(f"file://{page}{fragment}")

    def assert_quiet(self):
        """The page said nothing and asked for nothing."""
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])
        asked = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        urls = [m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"]
        self.assertEqual([url.split("#")[0] for url in urls if not url.startswith(("file://", "about:", "data:,"))], [])
        self.assertLessEqual(len([url for url in urls if url.startswith("file://")]), 1)

    def plain_records(self):
        """Two families on two devices, a sweep, a failure, and a dump."""
        maker = made.Maker()
        out = []
        for device, factor in ((made.GPU, 1), (made.CPU, 20)):
            for n, variant in enumerate(("wide", "short8", "implicit"), 1):
                point = {"width": 4096, "height": 4096, "pitch": 20.2}
                out.append(maker.record("pitch", variant, factor * n * 1e-4, device=device, point=point, samples=60, second_mode=1.2 if n == 2 else None))
        for k in range(12, 27):
            record = maker.record("latency", "global", 2e-9 if k < 15 else 6e-9 if k < 20 else 9e-8, device=made.GPU, point={"footprint": 2**k, "stride": 64})
            record["metrics"] = {"step_time": {"value": record["time"]["median"], "unit": "s", "better": "lower"}}
            out.append(record)
        failed = maker.record("pitch", "loop", 1e-3, device=made.CPU, point={"width": 4096, "height": 4096, "pitch": 20.2}, status="wrong_result",
                              reason="dst differs at 17", samples=6)
        failed["metrics"], failed["samples"] = {}, []
        del failed["time"]
        out.append(failed)
        out[1]["warnings"] = ["noise-floor: more samples no longer narrow the interval"]
        short8 = next(r for r in out if r["id"] == "pitch_short8" and r["device"]["type"] == "cpu")
        dump = self.folder / "dumps" / "cpu" / "pitch_short8"
        dump.mkdir(parents=True, exist_ok=True)
        for file in ("isa.txt", "stats.json"):
            shutil.copy(SOURCE / "dumps" / "reference" / "PoCL-x86" / "pitch_short8" / file, dump)
        (dump / "source.cl").write_text("// the idea\nkernel void pitch_short8(global int* dst) {\n    dst[0] = 1;\n}\n")
        short8["dump"] = "dumps/cpu/pitch_short8"
        (dump / "timing.json").write_text(json.dumps(short8))
        return out
