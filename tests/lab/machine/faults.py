#!/usr/bin/env python3
"""faults.py BIN_DIR WORK_DIR: machines on which something is wrong: each fault has its own message and costs its own device
only."""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from lab import Lab

lab = Lab(*sys.argv[1:3])


def reasons(gpus):
    return sorted({gpu["reason"] for gpu in gpus})


print("== five reasons for no usable GPU, five messages")
machine = lab.machine("no-driver")
code, gpus, warnings = lab.gpus(machine)
lab.check("no driver", code == 1 and "amdgpu driver is not loaded" in warnings and
          reasons(gpus) == ["no driver: the amdgpu module does not drive it"], (code, gpus, warnings))
lab.same("no driver, as rocm_smi's state", lab.sources(machine)["rocm_smi"]["state"], "no_driver")
_, gpus, _ = lab.gpus(lab.machine("kfd-eacces"))
lab.check("no permission", "/dev/kfd may not be opened" in reasons(gpus)[0], reasons(gpus))
_, gpus, _ = lab.gpus(lab.machine("kfd-absent"))
lab.same("no /dev/kfd", reasons(gpus), ["/dev/kfd does not exist"])
spec = dict(cpus=1, kfd="enxio", gpus=[dict(card=0, kind="mi250x", bdf="0000:c1:00.0")])
_, gpus, _ = lab.gpus(lab.machine("enxio", spec))
lab.check("nothing behind /dev/kfd", "no driver answers there" in reasons(gpus)[0], reasons(gpus))
machine = lab.machine("no-kfd-topology")
code, gpus, warnings = lab.gpus(machine)
lab.check("a library failure", code == 1 and "rocm_smi could not start (status 8" in warnings, warnings)
lab.same("a library failure, as rocm_smi's state", lab.sources(machine)["rocm_smi"]["state"], "failed")
lab.same("no GPU, as rocm_smi's state", lab.sources(lab.machine("none"))["rocm_smi"]["state"], "no_device")

print("== an ordinary user outside the group of the device nodes")
machine = lab.machine("mi250x8")
os.chmod(machine + "/dev/kfd", 0o660)
shutil.chown(machine + "/dev/kfd", 0, 44)
_, gpus, _ = lab.gpus(machine, RUN_UID="65534:65534")
lab.check("the group is named", "its group 'video' (gid 44)" in reasons(gpus)[0], reasons(gpus))
os.chmod(machine + "/dev/kfd", 0o666)
os.chmod(machine + "/dev/dri/renderD130", 0o660)
_, gpus, _ = lab.gpus(machine, RUN_UID="65534:65534")
lab.same("one unreadable render node costs one GPU", [gpu["usable"] for gpu in gpus],
         [True, True, False, True, True, True, True, True])
lab.check("it is named", "/dev/dri/renderD130 may not be opened" in gpus[2]["reason"], gpus[2]["reason"])
lab.same("HIP's numbers close the gap", [gpu["hip_index"] for gpu in gpus], [0, 1, None, 2, 3, 4, 5, 6])

print("== RSMI_DEBUG_ variables")
done = lab.sources(lab.machine("mi250x8"), RSMI_DEBUG_BITFIELD="1", RSMI_DEBUG_DRM_ROOT_OVERRIDE="/nowhere")
lab.same("are not obeyed", len(done["rocm_smi"]["devices"]), 8)

print("== a hung hwmon file")
machine = lab.machine("mi250x8")
victim = machine + "/sys/devices/pci0000:ce/0000:ce:00.0/hwmon/hwmon6/power1_average"
os.remove(victim)
os.mkfifo(victim)
begin = time.monotonic()
code, gpus, warnings = lab.gpus(machine)
lab.check("the answer comes", code is not None and len(gpus) == 8, code)
lab.check("within the time limits", time.monotonic() - begin < 40, time.monotonic() - begin)
lab.same("the hung one alone is unusable", [gpu["pci_address"] for gpu in gpus if not gpu["usable"]], ["0000:ce:00.0"])
lab.check("it says so", "hung" in gpus[3]["reason"], gpus[3]["reason"])
lab.check("the others have their values", all(gpu["power_w"] is not None for gpu in gpus if gpu["usable"]))
lab.check("--gpu-ids refuses it", lab.gpus(machine, "--gpu-ids", "3")[0] == 2)

print("== a library that hangs")
machine = lab.machine("mi250x8")
libraries = lab.work + "/hanging"
os.makedirs(libraries, exist_ok=True)
for library, function in (("libnvidia-ml.so.1", "nvmlInit_v2"), ("libamdhip64.so.7", "hipGetDeviceCount")):
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", "%s/%s" % (libraries, library), "-"], check=True,
                   input=b"#include <unistd.h>\nint %s() { for (;;) pause(); }\n" % function.encode())
paths = libraries + ":" + lab.thunk
sources = lab.sources(machine, "--patience-ms", "1500", LD_LIBRARY_PATH=paths)
lab.same("NVML's hang is told", (sources["nvml"]["state"], sources["nvml"]["message"]),
         ("hung", "nvml did not answer in time while reading nvmlInit"))
lab.same("and hides nothing of rocm_smi", (sources["rocm_smi"]["state"], len(sources["rocm_smi"]["devices"])), ("ok", 8))
done = lab.run(machine, [lab.probe, "see", "--patience-ms", "1500"], LD_LIBRARY_PATH=paths)
views = {view["runtime"]: view for view in json.loads(done.stdout)["views"]}
lab.same("HIP's hang is told", (views["hip"]["state"], views["hip"]["message"]),
         ("hung", "the hip runtime did not answer in time"))
lab.same("and hides nothing of HSA", len(views["hsa"]["devices"]), 8)

print("== a card that falls off the bus")
machine = lab.machine("mi250x8")
watcher = lab.start(machine, ["sh", "-c", 'for i in 1 2; do "$0" gpus --json; read -r line <"$1"; done', lab.coord,
                              machine + "/go"])
os.mkfifo(machine + "/go")
before = watcher.stdout.readline()
shutil.rmtree(machine + "/sys/devices/pci0000:ce/0000:ce:00.0")
os.remove(machine + "/sys/class/drm/card3")
os.remove(machine + "/sys/class/drm/renderD131")
for _ in range(2):
    with open(machine + "/go", "w") as go:
        go.write("\n")
    if _ == 0:
        after = watcher.stdout.readline()
watcher.wait(60)
lab.check("eight before", before.count('"pci_address"') == 8, before)
lab.check("seven usable after", after.count('"usable":true') == 7 and '"0000:ce:00.0"' not in
          after.split('"usable":true')[0], after)

print("== a killed holder of rocm_smi's mutexes")
machine = lab.machine("mi250x8")
script = '''
"$0" list >/dev/null
cat >"$1/holder.cc" <<'CC'
#include <rocm_smi/rocm_smi.h>
#include <csignal>
#include <unistd.h>
int main() { rsmi_init(0); uint64_t id; rsmi_dev_unique_id_get(0, &id); kill(getpid(), SIGKILL); }
CC
g++ -o "$1/holder" "$1/holder.cc" -lrocm_smi64 && "$1/holder"
"$0" list; "$0" list; ls /dev/shm
'''
done = lab.run(machine, ["sh", "-c", script, lab.probe, machine])
answers = [line for line in done.stdout.splitlines() if line.startswith("{")]
lab.check("both probes after it answer", len(answers) == 2 and all('"rocm_smi","state":"ok"' in line for line in answers),
          done)
script = '''
python3 - <<'PY'
import glob
for name in glob.glob("/dev/shm/rocm_smi_*"):
    open(name, "r+b").write(b"\\xff" * 16)
PY
exec "$0" list --patience-ms 8000
'''
done = lab.run(machine, ["sh", "-c", '"$1" list >/dev/null;' + script.replace('"$0"', '"$1"'), "sh", lab.probe])
lab.check("a spoiled mutex costs rocm_smi's answer, not sysfs's", '"sysfs","state":"ok"' in done.stdout, done)

print("== locks")
machine = lab.machine("mi250x8")
_, gpus, _ = lab.gpus(machine)
lock = lab.environment["ARENA_LOCK_DIR"] + "/0000:c9:00.0.lock"
with open(lock, "w") as file:
    file.write("run_20261201_101500, worker 2.1, pid 4711\n")
    file.flush()
    fcntl.flock(file, fcntl.LOCK_EX)
    _, gpus, _ = lab.gpus(machine)
    lab.same("a device that another run has is not usable", gpus[2]["reason"],
             "taken by run_20261201_101500, worker 2.1, pid 4711")
_, gpus, _ = lab.gpus(machine)
lab.check("it is free as soon as that run is gone, whatever the file says", gpus[2]["usable"], gpus[2]["reason"])

print("== memory that nobody holds, and a foreign process")
spec = dict(cpus=1, gpus=[dict(card=0, kind="mi250x", bdf="0000:c1:00.0", vram_used=40 << 30),
                          dict(card=1, kind="mi250x", bdf="0000:c6:00.0", vram_used=40 << 30),
                          dict(card=2, kind="mi250x", bdf="0000:c9:00.0")])
machine = lab.machine("stranded", spec)
process = machine + "/sys/devices/virtual/kfd/kfd/proc/%d" % os.getpid()
os.makedirs(process)
for gpu_id, size in ((10977, 0), (11954, 39 << 30), (12931, 0)):
    with open("%s/vram_%d" % (process, gpu_id), "w") as file:
        file.write("%d\n" % size)
_, gpus, _ = lab.gpus(machine)
lab.check("stranded", gpus[0]["reason"].startswith("stranded memory: 40.0 GiB"), gpus[0]["reason"])
lab.check("in use", gpus[1]["reason"].startswith("in use by process %d (python3) with 39.0 GiB" % os.getpid()),
          gpus[1]["reason"])
lab.check("a process that only opened the driver is none", gpus[2]["usable"], gpus[2]["reason"])

print("== telemetry")
machine = lab.machine("mi300x8")
done = lab.run(machine, ["sh", "-c", '(sleep 1) | "$0" sample --vendor amd --pci 0000:26:00.0 --period-ms 50', lab.probe])
lines = done.stdout.splitlines()
lab.check("it streams until its input closes", done.returncode == 0 and len(lines) > 5 and '"power_w":131.0' in lines[0],
          done)
sampler = lab.start(machine, [lab.probe, "sample", "--vendor", "amd", "--pci", "0000:26:00.0"])
sampler.stdout.readline()
kfd = [name for name in os.listdir("/proc/%d/fd" % sampler.pid)
       if os.readlink("/proc/%d/fd/%s" % (sampler.pid, name)).startswith(("/dev/kfd", "/dev/dri"))]
lab.same("it opens no GPU", kfd, [])
sampler.terminate()
lab.same("SIGTERM ends it", sampler.wait(10), -signal.SIGTERM)
lab.summary()
