"""What the device tests of the lab share: fake machines, the programs run on them, and counted checks."""
import json
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Lab:
    def __init__(self, bin_dir, work):
        self.coord, self.probe = bin_dir + "/arena-coord", bin_dir + "/arena-probe"
        self.work = work
        self.passed = self.failed = 0
        self.thunk = work + "/thunk"
        subprocess.run([HERE + "/build_thunk", self.thunk], check=True)
        # AMD's runtime of this distribution knows no GPU newer than gfx90a.
        self.environment = dict(os.environ, ARENA_LOCK_DIR=work + "/locks", LD_LIBRARY_PATH=self.thunk,
                                HSA_OVERRIDE_GFX_VERSION="9.0.10")
        for name in ("GPU_IDS", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
            self.environment.pop(name, None)

    def check(self, name, good, detail=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        print(("ok   " + name) if good else "FAIL %s: %s" % (name, detail), flush=True)

    def same(self, name, found, expected):
        self.check(name, found == expected, "expected %r, found %r" % (expected, found))

    def machine(self, preset, spec=None):
        """The directory of a machine: a preset, or `spec` under the name `preset`."""
        out = "%s/%s" % (self.work, preset)
        subprocess.run([HERE + "/fake_machine.py", "gen", "-" if spec else preset, out], check=True,
                       input=json.dumps(spec).encode() if spec else None)
        return out

    def start(self, machine, command, **environment):
        return subprocess.Popen([HERE + "/run_on_machine", machine] + command, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=dict(self.environment, **environment))

    def run(self, machine, command, **environment):
        return subprocess.run([HERE + "/run_on_machine", machine] + command, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=dict(self.environment, **environment))

    def gpus(self, machine, *flags, **environment):
        """(exit code, the devices, warnings) of `arena-coord gpus --json`."""
        done = self.run(machine, [self.coord, "gpus", "--json"] + list(flags), **environment)
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    def sources(self, machine, *flags, **environment):
        done = self.run(machine, [self.probe, "list"] + list(flags), **environment)
        return {source["source"]: source for source in json.loads(done.stdout)["sources"]}

    def see(self, machine, masks):
        """What each runtime sees under each of the masks, in an environment whose inherited masks are all wrong."""
        script = ""
        for mask in masks:
            wrong = {name: "5" for name in ("CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_VISIBLE_DEVICES",
                                            "ROCR_VISIBLE_DEVICES") if name not in mask["unset"]}
            wrong.update(mask["set"])
            script += "env %s %s see\n" % (" ".join(shlex.quote("%s=%s" % pair) for pair in wrong.items()),
                                           shlex.quote(self.probe))
        done = self.run(machine, ["sh", "-c", script])
        return [{view["runtime"]: view for view in json.loads(line)["views"]} for line in done.stdout.splitlines()]

    def prove(self, machine, gpus):
        """Every selected AMD device: HIP and HSA see exactly it under its mask, and all of them are different."""
        seen = []
        wrong = []
        for gpu, views in zip(gpus, self.see(machine, [gpu["mask"] for gpu in gpus])):
            addresses = [[device["pci_address"][:-2] for device in views[runtime]["devices"]] for runtime in ("hip", "hsa")]
            if addresses != [[gpu["pci_address"][:-2]]] * 2:
                wrong.append((gpu["pci_address"], gpu["partition"], addresses, views["hip"]["message"]))
                continue
            node = views["hsa"]["devices"][0]["node"]
            if node != gpu["hsa_node"]:
                wrong.append((gpu["pci_address"], gpu["partition"], "node %s instead of %s" % (node, gpu["hsa_node"])))
            seen.append(node)
        self.same("under its mask each worker's HIP and HSA see its device alone", wrong, [])
        self.same("%d of %d are different" % (len(set(seen)), len(gpus)), len(set(seen)), len(gpus))

    def summary(self):
        print("%d passed, %d failed" % (self.passed, self.failed))
        sys.exit(self.failed > 0)
