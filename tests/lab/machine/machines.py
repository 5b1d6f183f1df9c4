#!/usr/bin/env python3
"""machines.py BIN_DIR WORK_DIR: every machine of the lab: what `gpus` tells, what is selected, which mask each worker gets, and
what AMD's own runtimes then see."""
import sys

from lab import Lab

lab = Lab(*sys.argv[1:3])


def selected(gpus):
    return [gpu for gpu in gpus if gpu["selected"]]


def column(gpus, key):
    return [gpu[key] for gpu in gpus]


print("== eight GPUs")
machine = lab.machine("mi250x8")
code, gpus, warnings = lab.gpus(machine)
lab.same("gpus succeeds without a warning", (code, warnings), (0, ""))
lab.same("rocm_smi's indexes", column(gpus, "index"), list(range(8)))
lab.same("all are usable and selected", (column(gpus, "usable"), len(selected(gpus))), ([True] * 8, 8))
for key in ("unique_id", "name", "arch", "memory_bytes", "render_node", "render_group", "numa_node", "temperature_c",
            "power_w", "clock_mhz", "use_percent", "processes", "ecc"):
    lab.check("%s is known of each" % key, None not in column(gpus, key), column(gpus, key))
lab.same("masks name unique ids, and HIP numbers what is left",
         [(gpu["mask"]["set"]["ROCR_VISIBLE_DEVICES"], gpu["mask"]["set"]["HIP_VISIBLE_DEVICES"]) for gpu in gpus],
         [("GPU-" + gpu["unique_id"], "0") for gpu in gpus])
lab.prove(machine, selected(gpus))
table = lab.run(machine, [lab.coord, "gpus"]).stdout.splitlines()
lab.same("the table lines up", len({line.index("0000:") for line in table[1:9]}), 1)
_, some, _ = lab.gpus(machine, "--gpu-ids", "5,0000:c1:00.0 %s" % gpus[2]["unique_id"])
lab.same("--gpu-ids takes an index, an address and a unique id", column(selected(some), "index"), [0, 2, 5])
_, some, _ = lab.gpus(machine, GPU_IDS="1-3")
lab.same("GPU_IDS takes a range", column(selected(some), "index"), [1, 2, 3])
for ids in ("", " ", ",", "0,", "0,0", "8", "0-9", "3-1", "x", "0000:99:00.0", "-1", "GPU-0000000000000000"):
    code, _, message = lab.gpus(machine, "--gpu-ids=" + ids)
    lab.check("--gpu-ids '%s' is an error" % ids, code == 2 and "--gpu-ids" in message, (code, message))

print("== double masks, as HIP itself takes them")
both = {"set": {"ROCR_VISIBLE_DEVICES": "2", "CUDA_VISIBLE_DEVICES": "2"}, "unset": ["HIP_VISIBLE_DEVICES"]}
lab.same("ROCR=2 with CUDA=2 shows nothing", lab.see(machine, [both])[0]["hip"]["devices"], [])

print("== MI300X, and as the newest kernels show it")
machine = lab.machine("mi300x8")
code, gpus, _ = lab.gpus(machine)
lab.same("architecture", (code, set(column(gpus, "arch"))), (0, {"gfx942"}))
lab.prove(machine, selected(gpus))
machine = lab.machine("mi300x8-faithful")
code, gpus, warnings = lab.gpus(machine)
lab.check("rocm_smi's failure is told", code == 1 and "rocm_smi could not start" in warnings, (code, warnings))
lab.same("sysfs finds all the same, with junction temperatures", column(gpus, "temperature_c"),
         [45.0 + i for i in range(8)])
lab.prove(machine, selected(gpus))

print("== a BMC as card0")
machine = lab.machine("mi300x8-bmc")
_, gpus, _ = lab.gpus(machine)
lab.same("it is no GPU", (len(gpus), len(selected(gpus))), (8, 8))
lab.prove(machine, selected(gpus))

print("== rocm_smi's order reversed against KFD's, and a BMC")
machine = lab.machine("reversed")
_, gpus, _ = lab.gpus(machine)
lab.same("both orders are told", (column(gpus, "index"), column(gpus, "hip_index")), ([0, 1, 2, 3], [3, 2, 1, 0]))
lab.prove(machine, selected(gpus))

print("== integrated and discrete")
for preset, discrete in (("igpu-dgpu", "0000:03:00.0"), ("igpu-first", "0000:83:00.0")):
    machine = lab.machine(preset)
    _, gpus, _ = lab.gpus(machine)
    lab.same(preset + ": only the discrete one is selected", column(selected(gpus), "pci_address"), [discrete])
    reason = [gpu["reason"] for gpu in gpus if not gpu["selected"]]
    lab.check(preset + ": the other one's reason", "integrated" in reason[0], reason)
    lab.prove(machine, selected(gpus))
    _, gpus, _ = lab.gpus(machine, "--gpu-ids", "0-1")
    lab.same(preset + ": named, both are taken", len(selected(gpus)), 2)
    lab.prove(machine, selected(gpus))

print("== AMD, NVIDIA, AMD")
machine = lab.machine("mixed-vendor")
code, gpus, warnings = lab.gpus(machine)
lab.same("vendors", column(gpus, "vendor"), ["amd", "amd", "nvidia"])
lab.same("the NVIDIA one is left out, with the reason", (len(selected(gpus)), gpus[2]["reason"]),
         (2, "libnvidia-ml.so.1 is not installed"))
lab.prove(machine, selected(gpus))
lab.same("an NVIDIA worker sees no AMD GPU", lab.see(machine, [gpus[2]["mask"]])[0]["hip"]["devices"], [])
code, _, message = lab.gpus(machine, "--gpu-ids", "0")
lab.check("an index of both vendors has to be made clear", code == 2 and "names 2 devices" in message, message)

print("== cards 1, 4 and 7")
machine = lab.machine("gaps")
_, gpus, _ = lab.gpus(machine)
lab.same("all three are found although rocm_smi lists one", (column(gpus, "pci_address"), column(gpus, "index")),
         (["0000:c1:00.0", "0000:c6:00.0", "0000:c9:00.0"], [0, None, None]))
lab.check("the disagreement is told", "rocm_smi does not list it" in gpus[1]["remarks"][0], gpus[1]["remarks"])
lab.prove(machine, selected(gpus))

for preset in ("mi300x8-cpx", "mi300x8-cpx-high"):
    print("== 64 partitions (%s)" % preset)
    machine = lab.machine(preset)
    _, gpus, _ = lab.gpus(machine)
    lab.same("each is a device", (len(gpus), len(selected(gpus)), set(column(gpus, "partition_mode"))), (64, 64, {"CPX"}))
    lab.same("address and partition name each", len({(gpu["pci_address"], gpu["partition"]) for gpu in gpus}), 64)
    lab.same("eight share a unique id", len(set(column(gpus, "unique_id"))), 8)
    lab.prove(machine, selected(gpus))
    code, _, message = lab.gpus(machine, "--gpu-ids", "0000:05:00.0")
    lab.check("a card's address alone is not enough", code == 2 and "names 8 devices" in message, message)
    _, some, _ = lab.gpus(machine, "--gpu-ids", "0000:05:00.0/3")
    lab.same("with its partition it is", [(gpu["pci_address"], gpu["partition"]) for gpu in selected(some)],
             [("0000:05:00.0", 3)])

print("== a card with empty KFD properties")
machine = lab.machine("one-bad")
code, gpus, _ = lab.gpus(machine)
bad = [gpu for gpu in gpus if not gpu["usable"]]
lab.same("it alone is left out", (len(gpus), column(bad, "pci_address")), (8, ["0000:65:00.0"]))
lab.check("the reason says what HIP will do", "no properties" in bad[0]["reason"], bad[0]["reason"])
lab.prove(machine, selected(gpus))

print("== no GPU")
for preset, why in (("none", "no AMD or NVIDIA GPU is on the PCI bus"), ("bmc-only", "no AMD or NVIDIA GPU")):
    machine = lab.machine(preset)
    done = lab.run(machine, [lab.coord, "gpus"])
    lab.check(preset + ": said, with the reason and the way on",
              done.returncode == 0 and "no GPU found: " + why in done.stdout and "--cpu-slots" in done.stdout, done)
    lab.same(preset + ": an empty list in JSON", lab.gpus(machine)[:2], (0, []))
    lab.check(preset + ": --gpu-ids is refused", lab.gpus(machine, "--gpu-ids", "0")[0] == 2)
lab.summary()
