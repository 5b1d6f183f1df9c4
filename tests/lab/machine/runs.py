#!/usr/bin/env python3
"""runs.py BIN_DIR WORK_DIR: runs with one worker per GPU: each on its own device, none on a sick or taken one."""
import glob
import json
import os
import shutil
import sys
import time

from lab import Lab

lab = Lab(*sys.argv[1:3])
RUN_FLAGS = ["-q"]


def make_tasks(name, count, performance):
    tasks = "%s/%s_tasks" % (lab.work, name)
    for i in range(count):
        task = "%s/hip2hip/t%02d" % (tasks, i)
        os.makedirs(task + "/src")
        open(task + "/src/kernel.cc", "w").write("int kernel();\n")
        open(task + "/config.yaml", "w").write(
            "task_type: hip2hip\nsource_file_path:\n  - src/kernel.cc\ntarget_kernel_functions:\n  - kernel\n"
            'compile_command:\n  - "true"\ncorrectness_command:\n  - "true"\nperformance_command:\n  - "%s"\n' % performance)
    return tasks


def make_run(name, model, tasks):
    root = "%s/%s_root" % (lab.work, name)
    os.makedirs(root, exist_ok=True)
    config = root + "/config.yaml"
    open(config, "w").write("agent:\n  template: nop\ntasks: [all]\ntarget_gpu_model: %s\n" % model)
    return [lab.coord, "--config", config, "--tasks-dir", tasks, "--workspace-root", root] + RUN_FLAGS, root


def results(root):
    found = []
    for file in sorted(glob.glob(root + "/*/run_*/hip2hip_*/task_result.yaml")):
        text = open(file).read()
        found.append({line.split(": ")[0].strip(): line.split(": ", 1)[1].strip('"') for line in text.splitlines()
                      if ": " in line})
    return found


def entries(root, state):
    return glob.glob("%s/*/run_*/.parallel/%s/*.yaml" % (root, state))


def wait_for(condition):
    while not condition():
        time.sleep(0.05)


SHOW = "env | sort | grep VISIBLE_DEVICES; sleep 1; echo 'Performance: 1.5 ms'"

print("== eight GPUs, eight workers")
machine = lab.machine("mi250x8")
_, gpus, _ = lab.gpus(machine)
command, root = make_run("eight", "MI250X", make_tasks("eight", 16, SHOW))
done = lab.run(machine, command)
lab.same("the run is all done", done.returncode, 0)
found = results(root)
lab.same("every task has a result", len(found), 16)
lab.same("on the eight devices", sorted({result["device"] for result in found}), sorted(gpu["pci_address"] for gpu in gpus))
unique = {gpu["pci_address"]: gpu["unique_id"] for gpu in gpus}
lab.check("with the unique id of each", all(result["unique_id"] == unique[result["device"]] for result in found), found[:1])
lab.check("its architecture", all(result["arch"] == "gfx90a" for result in found), found[:1])
lab.check("the runtime that proved it", all("hip_runtime_version" in result for result in found), found[:1])
lab.check("and what it was doing", all("evaluation_power_w_median" in result for result in found), found[:1])
wrong = []
for log in glob.glob(root + "/*/run_*/hip2hip_*/logs/*perf*.log"):
    task = os.path.dirname(os.path.dirname(log))
    text = open(task + "/task_result.yaml").read()
    device = text.split('\ndevice: "')[1].split('"')[0]
    lines = open(log).read().splitlines()
    if "ROCR_VISIBLE_DEVICES=GPU-" + unique[device] not in lines or "HIP_VISIBLE_DEVICES=0" not in lines:
        wrong.append((log, lines))
lab.same("baseline and candidate saw the mask of that device", wrong, [])
record = open(glob.glob(root + "/*/run_*/run.yaml")[0]).read()
lab.check("run.yaml has devices and libraries", "rocm_smi library" in record and '\\"unique_id\\"' in record, record[:800])

print("== another model than the configuration's")
command, root = make_run("mismatch", "MI300X", make_tasks("mismatch", 1, SHOW))
done = lab.run(machine, command)
lab.check("is refused before anything starts", done.returncode == 2 and "gfx942" in done.stderr and
          os.listdir(root) == ["config.yaml"], (done.returncode, done.stderr, os.listdir(root)))
done = lab.run(machine, command + ["--allow-gpu-mismatch", "--gpu-ids", "0"])
lab.same("unless it is allowed", done.returncode, 0)

print("== two runs of one machine")
command, root = make_run("first", "MI250X", make_tasks("first", 4, "sleep 2; echo 'Performance: 1.5 ms'"))
first = lab.start(machine, command + ["--gpu-ids", "2,3"])
wait_for(lambda: len(entries(root, "running")) == 2)
other, other_root = make_run("second", "MI250X", make_tasks("second", 1, SHOW))
done = lab.run(machine, other + ["--gpu-ids", "3"])
lab.check("never share a GPU", done.returncode == 2 and "taken by worker" in done.stderr, (done.returncode, done.stderr))
done = lab.run(machine, other)
lab.same("the second takes the others", done.returncode, 0)
lab.check("and says what it leaves out", "taken by worker" in done.stderr, done.stderr)
lab.check("it was on none of the first's", results(other_root)[0]["device"] not in
          [gpus[2]["pci_address"], gpus[3]["pci_address"]], results(other_root))
shutil.rmtree(other_root)
other, other_root = make_run("second", "MI250X", lab.work + "/second_tasks")
done = lab.run(machine, other + ["--gpu-ids", "3", "--wait-for-gpu"])
lab.same("a third waits for one", done.returncode, 0)
lab.same("and gets it", results(other_root)[0]["device"], gpus[3]["pci_address"])
first.communicate()
lab.same("the first is all done", first.returncode, 0)

print("== a card falls off during a run")
machine = lab.machine("mi250x8")
command, root = make_run("lost", "MI250X", make_tasks("lost", 6, "sleep 1; echo 'Performance: 1.5 ms'"))
run = lab.start(machine, command + ["--gpu-ids", "0-1"])
wait_for(lambda: len(entries(root, "running")) == 2)
bus = gpus[1]["pci_address"][:7]
shutil.rmtree("%s/sys/devices/pci%s/%s" % (machine, bus, gpus[1]["pci_address"]))
for name in ("card1", "renderD129"):
    os.remove(machine + "/sys/class/drm/" + name)
_, errors = run.communicate()
status = lab.run(machine, [lab.coord, "status", "--json", "--workspace-root", root])
state = json.loads(status.stdout)
lab.same("every task is done on the other", (run.returncode, state["counts"]["done"]), (0, 6))
lost = [quarantine["device"] for quarantine in state["quarantined"]]
lab.same("the lost one is quarantined", lost, [gpus[1]["pci_address"]])
lab.check("no result is from it", all(result["device"] == gpus[0]["pci_address"] for result in results(root)),
          [result["device"] for result in results(root)])
resumed = lab.run(machine, [lab.coord, "--resume-latest", "--workspace-root", root, "-q"])
lab.check("a resume goes on with what is left", resumed.returncode == 0 and gpus[1]["pci_address"] in resumed.stderr,
          (resumed.returncode, resumed.stderr))
ledger = "".join(open(file).read() for file in glob.glob(root + "/*/run_*/.parallel/events/*.jsonl"))
lab.check("its task went back as infra_error", '"cause":"infra_error"' in ledger, ledger)

lab.summary()
