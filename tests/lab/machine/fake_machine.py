#!/usr/bin/env python3
"""Writes a machine with GPUs that does not exist, for AMD's real libraries to look at: its part of /sys and /dev.

  fake_machine.py gen SPEC OUT      SPEC: a preset's name, a JSON file, or '-' for JSON on standard input
  fake_machine.py show PRESET       a preset as JSON, to edit and feed back
  fake_machine.py presets           their names

OUT gets sys/ and dev/, which run_on_machine lays over /sys and /dev, and meta.json. A machine in JSON:
  cpus       number of CPU (NUMA) nodes of the KFD topology
  kfd        how /dev/kfd behaves: ok, absent, eacces (also for root), enxio (no driver behind it)
  topology   false: a driver without KFD
  driver     false: the cards are on the bus, no driver drives them
  kfd_order  reversed: KFD numbers the GPUs from the last card down
  part_in    where a partition stands in location_id: function (older kernels) or high (bits 28 to 31)
  gpus       a list of GPUs:
    card, kind, bdf    DRM card number (with gaps, if wanted), a key of KINDS, PCI address
    unique_id, numa, render (null: no render node), partitions, nps, vram, vram_used, busy, temp, power, sclk_max, connectors
    ecc        {"umc": [uncorrectable, correctable], …}
    kfd        false: no KFD node; "unreadable_props": a node whose properties are empty
    files      {"path below the device": "content", or null to leave it out}
"""
import json
import os
import shutil
import stat
import sys

GIB = 1 << 30
AMD, ASPEED, NVIDIA = 0x1002, 0x1A03, 0x10DE
DRIVERS = {AMD: "amdgpu", ASPEED: "ast", NVIDIA: "nvidia"}
KINDS = {
    "mi300x": dict(vendor=AMD, device=0x74A1, subdevice=0x74A1, gfx=90402, name="ip discovery", vram=192 * GIB,
                   product="AMD Instinct MI300X OAM", sensors="mi300", cus=304, xcc=8, xgmi=True, pci_class=0x120000,
                   simd_per_cu=4, wave=64),
    "mi250x": dict(vendor=AMD, device=0x7408, subdevice=0x0B0C, gfx=90010, name="aldebaran", vram=64 * GIB,
                   product="AMD INSTINCT MI250X", sensors="mi200", cus=110, xcc=1, xgmi=True, pci_class=0x038000,
                   simd_per_cu=4, wave=64),
    "rx7900xtx": dict(vendor=AMD, device=0x744C, subdevice=0x0E3B, gfx=110000, name="ip discovery", vram=24 * GIB,
                      product="", sensors="rdna", cus=96, xcc=1, xgmi=False, pci_class=0x030000, simd_per_cu=2, wave=32),
    "rx9070xt": dict(vendor=AMD, device=0x7550, subdevice=0x5304, gfx=120001, name="ip discovery", vram=16 * GIB,
                     product="", sensors="rdna", cus=64, xcc=1, xgmi=False, pci_class=0x030000, simd_per_cu=2, wave=32),
    "igpu": dict(vendor=AMD, device=0x164E, subdevice=0x164E, gfx=100306, name="ip discovery", vram=512 << 20,
                 product="", sensors="apu", cus=2, xcc=1, xgmi=False, pci_class=0x030000, simd_per_cu=2, wave=32),
    "ast": dict(vendor=ASPEED, device=0x2000, subdevice=0x2000, pci_class=0x030000),
    "nvidia": dict(vendor=NVIDIA, device=0x2684, subdevice=0x16F3, pci_class=0x030000),
}
PARTITION_MODES = {1: "SPX", 2: "DPX", 4: "QPX", 8: "CPX"}


def write(path, text, mode=0o444):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text if text.endswith("\n") or not text else text + "\n")
    os.chmod(path, mode)


def link(path, target):
    """A relative symbolic link, as the kernel makes them."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.islink(path):
        os.unlink(path)
    os.symlink(os.path.relpath(target, os.path.dirname(path)), path)


def make_device(path, major, minor):
    """A device node; DRM nodes are twins of /dev/null, which opens without a driver behind it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    drm = major == 226
    mode = 0o660 if drm and minor < 128 else 0o666
    os.mknod(path, mode | stat.S_IFCHR, os.makedev(1, 3) if drm else os.makedev(major, minor))
    os.chmod(path, mode)


def properties(**values):
    return "\n".join("%s %d" % pair for pair in values.items())


class Machine:
    def __init__(self, spec, out):
        self.spec = spec
        self.gpus = spec.get("gpus", [])
        self.out = out
        self.sys = out + "/sys"
        self.dri = out + "/dev/dri"
        self.drm = self.sys + "/class/drm"
        self.driver = spec.get("driver", True)
        self.next_render = 128
        self.next_card = max([gpu["card"] for gpu in self.gpus], default=-1) + 1
        self.next_hwmon = 3
        self.next_xcp = 0
        self.nodes = []  # KFD's GPUs, in the order of its nodes

    def generate(self):
        if os.path.exists(self.out):
            shutil.rmtree(self.out)
        os.makedirs(self.sys + "/class/hwmon")
        os.makedirs(self.out + "/dev")
        has_amd = any(KINDS[gpu["kind"]]["vendor"] == AMD for gpu in self.gpus)
        topology = self.spec.get("topology", True)
        has_kfd = self.driver and (topology is True and has_amd or topology == "empty")
        if self.gpus and self.driver:
            os.makedirs(self.drm)
            os.makedirs(self.dri + "/by-path")
            write(self.drm + "/version", "drm 1.1.0 20060810")
        for number, gpu in enumerate(self.gpus):
            self.write_card(number, gpu)
        if self.spec.get("module", bool(self.gpus)) and self.driver:
            write(self.sys + "/module/amdgpu/initstate", "live")
            write(self.sys + "/module/amdgpu/version", "6.8.5")
        if self.spec.get("kfd_order") == "reversed":
            self.nodes.reverse()
        if has_kfd:
            self.write_topology()
        mode = self.spec.get("kfd", "ok" if has_kfd else "absent")
        with open(self.out + "/meta.json", "w") as file:
            json.dump(dict(kfd=mode, machine=self.spec), file, indent=1)
        if mode in ("ok", "eacces"):
            make_device(self.out + "/dev/kfd", 1, 3)  # opens; every ioctl fails with ENOTTY
        elif mode == "enxio":
            make_device(self.out + "/dev/kfd", 4095, 77)

    # --- one card on the bus ---

    def write_card(self, number, gpu):
        kind, bdf = KINDS[gpu["kind"]], gpu["bdf"]
        directory = "%s/devices/pci%s:%s/%s" % (self.sys, bdf[:4], bdf[5:7], bdf)
        render = gpu.get("render", self.next_render)
        if render is not None:
            self.next_render = max(self.next_render, render) + 1
        write(directory + "/vendor", "0x%04x" % kind["vendor"])
        write(directory + "/device", "0x%04x" % kind["device"])
        write(directory + "/subsystem_vendor", "0x%04x" % kind["vendor"])
        write(directory + "/subsystem_device", "0x%04x" % kind["subdevice"])
        write(directory + "/class", "0x%06x" % kind["pci_class"])
        for name, value in (("revision", "0x00"), ("enable", "1"), ("local_cpulist", "0-1"), ("irq", "64"),
                            ("numa_node", str(gpu.get("numa", 0)))):
            write(directory + "/" + name, value)
        link(self.sys + "/bus/pci/devices/" + bdf, directory)
        if not self.driver:
            return
        driver = DRIVERS[kind["vendor"]]
        write(directory + "/uevent", "DRIVER=%s\nPCI_CLASS=%X\nPCI_ID=%04X:%04X\nPCI_SLOT_NAME=%s"
              % (driver, kind["pci_class"], kind["vendor"], kind["device"], bdf))
        os.makedirs(self.sys + "/bus/pci/drivers/" + driver, exist_ok=True)
        link("%s/bus/pci/drivers/%s/%s" % (self.sys, driver, bdf), directory)
        link(directory + "/driver", self.sys + "/bus/pci/drivers/" + driver)
        self.write_drm_nodes(gpu, directory, gpu["card"], render)
        if kind["vendor"] != AMD:
            return
        unique_id = int(gpu.get("unique_id") or "0x%x" % (0x9E3779B97F4A7C15 * (number + 1) & (1 << 64) - 1), 16)
        self.write_amd_files(number, gpu, kind, directory, unique_id)
        partitions = gpu.get("partitions", 1)
        for part in range(partitions):
            part_render = render
            if part:  # further partitions are platform devices without a vendor file
                part_render, self.next_render = self.next_render, self.next_render + 1
                place = "%s/devices/platform/amdgpu_xcp_%d" % (self.sys, self.next_xcp)
                self.write_drm_nodes(gpu, place, self.next_card, part_render)
                self.next_card += 1
                self.next_xcp += 1
            if gpu.get("kfd", True):
                self.nodes.append(dict(gpu=gpu, kind=kind, part=part, partitions=partitions, render=part_render or 0,
                                       unique_id=unique_id, vram=gpu.get("vram", kind["vram"]) // partitions))

    def write_drm_nodes(self, gpu, device, card, render):
        card_directory = device + "/drm/card%d" % card
        write(card_directory + "/dev", "226:%d" % card)
        link(card_directory + "/device", device)
        link(self.drm + "/card%d" % card, card_directory)
        make_device(self.dri + "/card%d" % card, 226, card)
        if render is not None:
            render_directory = device + "/drm/renderD%d" % render
            write(render_directory + "/dev", "226:%d" % render)
            link(render_directory + "/device", device)
            link(self.drm + "/renderD%d" % render, render_directory)
            make_device(self.dri + "/renderD%d" % render, 226, render)
        for connector in range(gpu.get("connectors", 0)):
            name = "card%d-%s-%d" % (card, "DP" if connector else "HDMI-A", connector + 1)
            write(card_directory + "/" + name + "/status", "disconnected")
            link(self.drm + "/" + name, card_directory + "/" + name)

    def write_amd_files(self, number, gpu, kind, directory, unique_id):
        sensors, vram = kind["sensors"], gpu.get("vram", kind["vram"])
        used = gpu.get("vram_used", 300 << 20)
        files = {
            "vbios_version": "113-M3000100-102" if sensors == "mi300" else "113-D65201-00",
            "mem_info_vram_total": str(vram), "mem_info_vram_used": str(used),
            "mem_info_vis_vram_total": str(vram), "mem_info_vis_vram_used": str(used),
            "mem_info_gtt_total": str(128 * GIB), "mem_info_gtt_used": str(16 << 20),
            "mem_info_vram_vendor": "samsung",
            "gpu_busy_percent": str(gpu.get("busy", 0)), "mem_busy_percent": "0",
            "pp_dpm_sclk": "0: 132Mhz *\n1: %dMhz" % gpu.get("sclk_max", 2100),
            "pp_dpm_mclk": "0: 900Mhz \n1: 1300Mhz *", "pp_dpm_fclk": "0: 1200Mhz *\n1: 2100Mhz",
            "pp_dpm_socclk": "0: 28Mhz *\n1: 1200Mhz", "pp_dpm_pcie": "0: 2.5GT/s, x16 *\n1: 32.0GT/s, x16",
            "power_dpm_force_performance_level": "auto", "pcie_bw": "0 0 256", "pcie_replay_count": "0",
            "current_link_speed": "32.0 GT/s PCIe", "current_link_width": "16",
            "max_link_speed": "32.0 GT/s PCIe", "max_link_width": "16",
        }
        if sensors != "apu":
            files["unique_id"] = "%016x" % unique_id
        if sensors in ("mi300", "mi200"):
            files["serial_number"] = "692%09d" % number
            files["ras/features"] = "feature mask: 0x3fff"
            files["ras/gpu_vram_bad_pages"] = ""
            files["xgmi_error"] = "0"
            for block in ("umc", "sdma", "gfx", "mmhub", "pcie_bif", "hdp", "xgmi_wafl"):
                files["ras/%s_err_count" % block] = "ue: %d\nce: %d" % tuple(gpu.get("ecc", {}).get(block, (0, 0)))
        if sensors == "mi300":
            partitions = gpu.get("partitions", 1)
            files["current_compute_partition"] = PARTITION_MODES[partitions]
            files["available_compute_partition"] = "SPX, DPX, QPX, CPX"
            files["current_memory_partition"] = gpu.get("nps", "NPS1")
        if kind["product"]:
            files["product_name"], files["product_number"] = kind["product"], "102-G30211-0C"
        for firmware in ("asd", "ce", "mc", "me", "mec", "mec2", "pfp", "rlc", "sdma", "sdma2", "smc", "sos", "vcn"):
            files["fw_version/%s_fw_version" % firmware] = "0x%08x" % (0x100 + len(firmware))
        hwmon = "hwmon/hwmon%d" % self.next_hwmon
        self.next_hwmon += 1
        for name, value in self.sensor_files(gpu, gpu.get("sensors", sensors)).items():
            files[hwmon + "/" + name] = str(value)
        files.update(gpu.get("files", {}))
        for name, value in files.items():
            if value is not None:
                writable = name.startswith(("pp_dpm", "power_dpm", "current_compute")) or "cap" in name
                write(directory + "/" + name, value, 0o644 if writable else 0o444)
        link(self.sys + "/class/" + hwmon, directory + "/" + hwmon)
        link(directory + "/" + hwmon + "/device", directory)

    @staticmethod
    def sensor_files(gpu, profile):
        """A real MI300X has no edge temperature, no in0, and power1_input instead of power1_average ("mi300");
        Debian's rocm_smi 5.2 starts only with "mi300compat"."""
        temperature, power = int(gpu.get("temp", 42) * 1000), int(gpu.get("power", 140) * 1000000)
        files = {"name": "amdgpu", "freq1_label": "sclk", "freq1_input": 132000000}
        if profile == "mi300":
            files.update({"power1_input": power, "power1_label": "PPT"})
        else:
            files.update({"temp1_label": "edge", "temp1_input": temperature, "temp1_crit": 100000,
                          "temp1_emergency": 105000, "temp1_crit_hyst": -273150, "in0_label": "vddgfx",
                          "in0_input": 793, "power1_average": power})
        if profile != "apu":
            files.update({"temp2_label": "junction", "temp2_input": temperature + 5000, "temp2_crit": 100000,
                          "temp2_emergency": 105000, "temp3_label": "mem", "temp3_input": temperature - 3000,
                          "temp3_crit": 105000, "power1_cap": 750000000, "power1_cap_max": 750000000,
                          "power1_cap_min": 0, "power1_cap_default": 750000000})
        return files

    # --- the KFD topology ---

    def write_topology(self):
        kfd = self.sys + "/devices/virtual/kfd/kfd"
        link(self.sys + "/class/kfd/kfd", kfd)
        write(kfd + "/dev", "238:0")
        os.makedirs(kfd + "/proc")
        write(kfd + "/topology/generation_id", "2")
        write(kfd + "/topology/system_properties", "platform_oem 17479\nplatform_id 88042\nplatform_rev 1")
        cpus = self.spec.get("cpus", 1)
        for cpu in range(cpus):
            self.write_cpu_node(kfd + "/topology/nodes/%d" % cpu, cpu, cpus)
        for i, node in enumerate(self.nodes):
            self.write_gpu_node(kfd + "/topology/nodes/%d" % (cpus + i), i, node, cpus)

    @staticmethod
    def write_links(directory, number, io_links, p2p_links=()):
        """librocm_smi64 asserts that both directories exist on every node."""
        for kind, links in (("io_links", io_links), ("p2p_links", p2p_links)):
            os.makedirs(directory + "/" + kind, exist_ok=True)
            for i, (to, link_type, weight, bandwidth) in enumerate(links):
                write("%s/%s/%d/properties" % (directory, kind, i), properties(
                    type=link_type, version_major=0, version_minor=0, node_from=number, node_to=to, weight=weight,
                    min_latency=0, max_latency=0, min_bandwidth=bandwidth, max_bandwidth=bandwidth,
                    recommended_transfer_size=0, flags=1))

    @staticmethod
    def write_memory(directory, heap, size):
        write(directory + "/mem_banks/0/properties",
              properties(heap_type=heap, size_in_bytes=size, flags=0, width=8192, mem_clk_max=1300))

    def write_cpu_node(self, directory, number, cpus):
        links = [(other, 2, 20, 0) for other in range(cpus) if other != number]
        links += [(cpus + i, 2, 20, 64000) for i, node in enumerate(self.nodes)
                  if node["gpu"].get("numa", 0) == number]
        write(directory + "/gpu_id", "0")
        write(directory + "/name", "")
        write(directory + "/properties", properties(
            cpu_cores_count=96, simd_count=0, mem_banks_count=1, caches_count=0, io_links_count=len(links),
            p2p_links_count=0, cpu_core_id_base=0, simd_id_base=0, max_waves_per_simd=0, lds_size_in_kb=0,
            gds_size_in_kb=0, num_gws=0, wave_front_size=0, array_count=0, simd_arrays_per_engine=0,
            cu_per_simd_array=0, simd_per_cu=0, max_slots_scratch_cu=0, gfx_target_version=0, vendor_id=0,
            device_id=0, location_id=0, domain=0, drm_render_minor=0, hive_id=0, num_sdma_engines=0,
            num_sdma_xgmi_engines=0, num_sdma_queues_per_engine=0, num_cp_queues=0, max_engine_clk_ccompute=3700))
        self.write_links(directory, number, links)
        self.write_memory(directory, 0, 512 * GIB)

    def write_gpu_node(self, directory, index, node, cpus):
        gpu, kind, parts = node["gpu"], node["kind"], node["partitions"]
        domain, bus, rest = gpu["bdf"].split(":")
        device, function = rest.split(".")
        location = int(bus, 16) << 8 | int(device, 16) << 3 | int(function)
        if parts > 1:
            location |= node["part"] << (28 if self.spec.get("part_in") == "high" else 0)
        numa = gpu.get("numa", 0)
        io_links, p2p_links = [(numa, 2, 20, 64000)], []
        for j, other in enumerate(self.nodes):
            if other is node:
                continue
            if kind["xgmi"] and other["kind"]["xgmi"]:
                io_links.append((cpus + j, 11, 15, 64000 if other["gpu"] is not gpu else 128000))
            elif other["gpu"].get("numa", 0) == numa:  # the kernel lists PCIe peers there, never in io_links
                p2p_links.append((cpus + j, 2, 40, 32000))
        many_xgmi = sum(1 for other in self.nodes if other["kind"]["xgmi"]) > 1
        cus, engines = kind["cus"] // parts, 32 // parts if kind["xcc"] == 8 else 8
        write(directory + "/gpu_id", str(gpu.get("gpu_id", 10000 + 977 * (index + 1) % 50000)))
        write(directory + "/name", kind["name"])
        text = properties(
            cpu_cores_count=0, simd_count=cus * kind["simd_per_cu"], mem_banks_count=1, caches_count=0,
            io_links_count=len(io_links), p2p_links_count=len(p2p_links), cpu_core_id_base=0,
            simd_id_base=2147487744 + 128 * index, max_waves_per_simd=8 if kind["wave"] == 64 else 16,
            lds_size_in_kb=64, gds_size_in_kb=0, num_gws=64, wave_front_size=kind["wave"], array_count=engines,
            simd_arrays_per_engine=1, cu_per_simd_array=max(1, -(-cus // engines)), simd_per_cu=kind["simd_per_cu"],
            max_slots_scratch_cu=32, gfx_target_version=kind["gfx"], vendor_id=kind["vendor"],
            device_id=kind["device"], location_id=location, domain=int(domain, 16), drm_render_minor=node["render"],
            hive_id=0x71C8F3A5B2D40E11 if kind["xgmi"] and many_xgmi else 0, num_sdma_engines=2,
            num_sdma_xgmi_engines=14 if kind["xgmi"] else 0, num_sdma_queues_per_engine=8, num_cp_queues=24,
            max_engine_clk_fcompute=gpu.get("sclk_max", 2100), local_mem_size=0, fw_version=160,
            capability=746676736, debug_prop=1511, sdma_fw_version=22, unique_id=node["unique_id"],
            num_xcc=kind["xcc"] // parts or 1, max_engine_clk_ccompute=3700)
        write(directory + "/properties", "" if gpu.get("kfd") == "unreadable_props" else text)
        self.write_links(directory, cpus + index, io_links, p2p_links)
        self.write_memory(directory, 1, node["vram"])


def mi300x(count, first_card=0, partitions=1, sensors="mi300compat"):
    buses = (0x05, 0x26, 0x46, 0x65, 0x85, 0xA6, 0xC6, 0xE5)
    return [dict(card=i + first_card, kind="mi300x", bdf="0000:%02x:00.0" % buses[i], numa=i // 4,
                 partitions=partitions, sensors=sensors, temp=40 + i, power=130 + i,
                 unique_id="0x%016x" % (0x8F3A2C1D00000000 + 0x1111111 * (i + 1))) for i in range(count)]


def mi250x(buses, cards=None):
    return [dict(card=cards[i] if cards else i, kind="mi250x", bdf="0000:%02x:00.0" % bus,
                 numa=i * 2 // max(len(buses), 2)) for i, bus in enumerate(buses)]


BMC = dict(card=0, kind="ast", bdf="0000:01:00.0", render=None, connectors=1)
EIGHT = (0xC1, 0xC6, 0xC9, 0xCE, 0xD1, 0xD6, 0xD9, 0xDE)
PRESETS = {
    "mi300x8": dict(cpus=2, gpus=mi300x(8)),
    "mi300x8-faithful": dict(cpus=2, gpus=mi300x(8, sensors="mi300")),
    "mi300x8-bmc": dict(cpus=2, gpus=[BMC] + mi300x(8, first_card=1)),
    "mi300x8-cpx": dict(cpus=2, gpus=mi300x(8, partitions=8)),
    "mi300x8-cpx-high": dict(cpus=2, part_in="high", gpus=mi300x(8, partitions=8)),
    "mi250x8": dict(cpus=2, gpus=mi250x(EIGHT)),
    "reversed": dict(cpus=2, kfd_order="reversed", gpus=[BMC] + mi250x((0x03, 0x43, 0x83, 0xC7), (1, 2, 3, 4))),
    "igpu-dgpu": dict(gpus=[dict(card=0, kind="rx7900xtx", bdf="0000:03:00.0", connectors=4),
                            dict(card=1, kind="igpu", bdf="0000:0f:00.0", connectors=2)]),
    "igpu-first": dict(gpus=[dict(card=0, kind="igpu", bdf="0000:0f:00.0", connectors=2),
                             dict(card=1, kind="rx9070xt", bdf="0000:83:00.0", connectors=4)]),
    "mixed-vendor": dict(gpus=[dict(card=0, kind="rx7900xtx", bdf="0000:03:00.0", connectors=1),
                               dict(card=1, kind="nvidia", bdf="0000:41:00.0", connectors=1),
                               dict(card=2, kind="rx9070xt", bdf="0000:83:00.0", connectors=1)]),
    "gaps": dict(gpus=[dict(card=1, kind="mi250x", bdf="0000:c1:00.0", render=129),
                       dict(card=4, kind="mi250x", bdf="0000:c6:00.0", render=135),
                       dict(card=7, kind="mi250x", bdf="0000:c9:00.0", render=141)]),
    "one-bad": dict(cpus=2, gpus=[dict(gpu, kfd="unreadable_props") if gpu["card"] == 3 else gpu
                                  for gpu in mi300x(8)]),
    "no-kfd-topology": dict(topology=False, gpus=mi300x(2)),
    "kfd-eacces": dict(cpus=2, kfd="eacces", gpus=mi300x(4)),
    "kfd-absent": dict(cpus=2, kfd="absent", gpus=mi300x(4)),
    "no-driver": dict(driver=False, gpus=mi300x(2)),
    "none": dict(gpus=[]),
    "bmc-only": dict(gpus=[BMC], topology="empty", module=False),
}


def load(spec):
    if spec == "-":
        return json.load(sys.stdin)
    if spec in PRESETS:
        return PRESETS[spec]
    with open(spec) as file:
        return json.load(file)


def main(arguments):
    if arguments == ["presets"]:
        print("\n".join(PRESETS))
    elif arguments[:1] == ["show"] and len(arguments) == 2:
        json.dump(load(arguments[1]), sys.stdout, indent=1)
    elif arguments[:1] == ["gen"] and len(arguments) == 3:
        Machine(load(arguments[1]), os.path.abspath(arguments[2])).generate()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
