#!/usr/bin/env bash
# check_nvidia.sh BIN_DIR [OUT_DIR]: on a machine with NVIDIA GPUs: what NVML lists, the mask of each GPU, and what CUDA then
# sees. Needs nothing but bash, python3 and the driver, so it runs on any distribution with glibc 2.34 or newer. The answers go
# to OUT_DIR and are what tests/data/devices/ holds. Ends with 'N passed, N failed'.
set -u
bin=$(readlink -f "$1")
out=${2:-.}
mkdir -p "$out"

"$bin/arena-probe" list >"$out/nvidia_list.json"
"$bin/arena-probe" see >"$out/nvidia_see_all.json"
"$bin/arena-coord" gpus >"$out/nvidia_gpus.txt" 2>"$out/nvidia_gpus.err"
"$bin/arena-coord" gpus --json >"$out/nvidia_gpus.json" 2>>"$out/nvidia_gpus.err"
python3 - "$bin" "$out" <<'PYTHON'
import json, os, subprocess, sys, time

bin_dir, out = sys.argv[1:]
probe = bin_dir + "/arena-probe"
passed = failed = 0


def check(name, good, detail=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print("ok  " if good else "FAIL", name, "" if good else detail)


def see(mask):
    environment = {k: v for k, v in os.environ.items() if k not in mask["unset"]}
    environment.update(mask["set"])
    answer = subprocess.run([probe, "see"], env=environment, stdout=subprocess.PIPE, check=True).stdout
    return {view["runtime"]: view for view in json.loads(answer)["views"]}, answer


def compute_processes(address):
    listed = json.loads(subprocess.run([probe, "list"], stdout=subprocess.PIPE, check=True).stdout)
    for source in listed["sources"]:
        for device in source["devices"] if source["source"] == "nvml" else []:
            if device["pci_address"] == address:
                return [process["pid"] for process in device["processes"] or []]
    return None


report = json.load(open(out + "/nvidia_list.json"))
nvml = [source for source in report["sources"] if source["source"] == "nvml"][0]
check("NVML answers", nvml["state"] == "ok", nvml["message"])
gpus = json.load(open(out + "/nvidia_gpus.json"))
mine = [gpu for gpu in gpus if gpu["vendor"] == "nvidia"]
check("gpus lists what NVML lists", len(mine) == len(nvml["devices"]) > 0, len(mine))
seen = set()
for gpu in mine:
    name = gpu["pci_address"]
    for key in ("index", "unique_id", "name", "arch", "memory_bytes", "temperature_c", "power_w", "clock_mhz"):
        check("%s has %s" % (name, key), gpu[key] is not None)
    check("%s is usable" % name, gpu["usable"], gpu["reason"])
    views, answer = see(gpu["mask"])
    with open("%s/nvidia_see_%s.json" % (out, gpu["index"]), "wb") as file:
        file.write(answer)
    cuda = views["cuda"]
    check("%s: CUDA sees one device under its mask" % name, len(cuda["devices"]) == 1, cuda)
    for device in cuda["devices"]:
        check("%s: at its own address" % name, device["pci_address"] == name, device)
        check("%s: with its own UUID" % name, device["unique_id"] == gpu["unique_id"], device)
        check("%s: of its architecture" % name, device["arch"] == gpu["arch"], device)
        seen.add(device["pci_address"])
    check("%s: no AMD runtime sees anything" % name, not views["hip"]["devices"] and not views["hsa"]["devices"])
    wrong = {"set": dict(gpu["mask"]["set"], CUDA_VISIBLE_DEVICES="GPU-00000000-0000-0000-0000-000000000000"), "unset": []}
    check("%s: a UUID of no GPU shows none" % name, not see(wrong)[0]["cuda"]["devices"])
    sampler = subprocess.Popen([probe, "sample", "--vendor", "nvidia", "--pci", name, "--period-ms", "100"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lines = [json.loads(sampler.stdout.readline()) for _ in range(5)]
    check("%s: the sampler is no GPU process" % name, sampler.pid not in (compute_processes(name) or []))
    sampler.stdin.close()
    check("%s: the sampler ends when its input closes" % name, sampler.wait(10) == 0)
    check("%s: samples have clock, power, temperature and throttling" % name,
          all(line[key] is not None for line in lines for key in ("clock_mhz", "power_w", "temperature_c", "throttle")), lines)
    with open("%s/nvidia_sample_%s.jsonl" % (out, gpu["index"]), "w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
check("all masks together show every GPU once", len(seen) == len(mine))
for ids, code in (("0", 0), ("99", 2), ("", 2), ("0,0", 2), (mine[0]["unique_id"], 0), (mine[0]["pci_address"], 0)):
    done = subprocess.run([bin_dir + "/arena-coord", "gpus", "--json", "--gpu-ids", ids], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    check("--gpu-ids '%s' ends with %d" % (ids, code), done.returncode == code, done)
print("%d passed, %d failed" % (passed, failed))
sys.exit(failed > 0)
PYTHON
