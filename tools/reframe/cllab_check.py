"""A ReFrame check of kernels by cllab: each must be right, and its median time and bandwidth are performance variables.

    reframe -c tools/reframe/cllab_check.py -r -S kernels=pitch_wide,saxpy -S device=gpu -S options='--axis width=8192'

References go by the name of the cell, as any of ReFrame: {'cluster:gpu': {'pitch_wide time': (550, None, 0.05, 'us')}}.
"""
import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ


@rfm.simple_test
class CllabCheck(rfm.RunOnlyRegressionTest):
    descr = "kernels verified and timed by cllab"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "cllab"
    kernels = variable(typ.List[str], value=["bandwidth_copy"])  # patterns of `cllab list`, or kernel files
    device = variable(str, value="gpu")                          # a selector of `cllab devices`
    options = variable(str, value="")                            # more of `cllab run --help`

    @run_before("run")
    def set_command_line(self):
        self.executable_opts = ["run", *self.kernels, "--device", self.device, "--json", "records.jsonl", "--no-dumps", *self.options.split()]
        self.keep_files = ["records.jsonl"]

    def records(self):
        with open(os.path.join(self.stagedir, "records.jsonl")) as lines:
            cells = [json.loads(line) for line in lines]
        return [cell for cell in cells if "status" in cell]  # not what compares two

    @sanity_function
    def every_cell_is_right(self):
        cells = self.records()
        return sn.all([sn.assert_true(cells, "there is no record")] +
                      [sn.assert_eq(cell["status"], "ok", f"{cell['id']} is {cell['status']}: {cell['reason']}") for cell in cells])

    @run_before("performance")
    def set_performance_variables(self):
        cells = self.records()
        points = {json.dumps(cell["point"]) for cell in cells}
        for cell in cells:
            name = cell["id"]
            if len(points) > 1:
                name += "".join(f" {axis}={value}" for axis, value in cell["point"].items())
            self.perf_variables[f"{name} time"] = sn.make_performance_function(sn.defer(1e6 * cell["time"]["median"]), "us")
            bandwidth = cell["metrics"].get("bandwidth")
            if bandwidth:
                self.perf_variables[f"{name} bandwidth"] = sn.make_performance_function(sn.defer(bandwidth["value"] / 1e9), "GB/s")
