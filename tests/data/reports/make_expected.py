#!/usr/bin/env python3
"""Makes a small run in v0.2's format and the reports that its rules give, with Python's own csv, json, yaml and statistics.

The results and the expected files are committed; this is how they came to be: make_expected.py DIRECTORY
"""
import csv
import io
import json
import pathlib
import statistics
import sys

import yaml

RUN = "run_20260102_030405_own"
AGENT, GPU = "my_agent", "MI250"


def result(name, compiled, correct, base, best, ratio, score, summary="Optimized by my_agent using centralized evaluator"):
    return dict(task_name=name, pass_compilation=compiled,
                compilation_error_message=None if compiled else "Compilation failed\nSTDERR:\nx.hip:1: error",
                pass_correctness=correct,
                correctness_error_message=None if correct or not compiled else "wrong: 'a', \"b\"\n",
                base_execution_time=base, best_optimized_execution_time=best, speedup_ratio=ratio,
                optimization_summary=summary, score=score)


RESULTS = [
    result("hip2hip/a/relu", True, True, 1.0, 0.3, 3.3333333333333335, 453.33333333333337),
    result("hip2hip/a/relu_b", True, True, 7.0, 7.0, 1.0, 220.0, "  comma, and trailing blanks \n"),
    result("hip2hip/a/tiny", True, True, 1e-05, 1.0, 1e-05, 120.001),
    result("hip2hip/b/equal", True, True, 1.0, 0.3, 3.3333333333333335, 453.33333333333337, "gr\u00fc\u00dfe \u20ac"),
    result("torch2hip/one", True, True, 4.5, 1.0, 2.125, 332.5, 'say "hi"'),
    result("torch2hip/two", False, False, 0.0, 0.0, 0.0, 0.0, ""),
    result("triton2triton/x", True, False, 3.25, 0.0, 0.0, 20.0, "one\nline more"),
    result("triton2triton/y", True, True, 0.1, 0.08, 1.2519999999999998, 245.2),
    result("triton2triton/z", True, True, 0.1, 0.08, 1.25, 245.0),
]


def stats(rows, count_key):
    n = len(rows)
    speedups = [r["speedup_ratio"] for r in rows if r["pass_correctness"] and r["speedup_ratio"] > 0]
    compiled = sum(r["pass_compilation"] for r in rows)
    correct = sum(r["pass_correctness"] for r in rows)
    faster = sum(s > 1.0 for s in speedups)
    total = 0.0
    for r in rows:
        total += r["score"]
    cuts = statistics.quantiles(speedups, n=100) if len(speedups) > 1 else [speedups[0]] * 99
    added = 0.0
    for s in speedups:
        added += s
    return {count_key: n, "total_score": total, "average_score": total / n,
            "compilation_pass_count": compiled, "compilation_pass_rate": compiled / n * 100,
            "correctness_pass_count": correct, "correctness_pass_rate": correct / n * 100,
            "speedup_gt_1_count": faster, "speedup_gt_1_rate": faster / n * 100,
            "average_speedup": added / len(speedups), "median_speedup": statistics.median(speedups),
            "std_dev_speedup": statistics.stdev(speedups) if len(speedups) > 1 else 0.0,
            "p25_speedup": cuts[24], "p75_speedup": cuts[74], "p90_speedup": cuts[89],
            "valid_speedup_count": len(speedups)}


def text_report(rows, overall, types):
    rule = "=" * 80
    a = overall
    out = [rule, "AgentKernelArena Task Results Report", rule, f"Run: {RUN[4:]}", f"Agent: {AGENT}", f"Target GPU: {GPU}", rule,
           "OVERALL STATISTICS:",
           f"  Total Tasks:           {a['total_tasks']}",
           f"  Total Score:           {a['total_score']:.2f}",
           f"  Average Score:         {a['average_score']:.2f}",
           "Compilation:",
           f"  Pass Count:            {a['compilation_pass_count']}/{a['total_tasks']}",
           f"  Pass Rate:             {a['compilation_pass_rate']:.1f}%",
           "Correctness:",
           f"  Pass Count:            {a['correctness_pass_count']}/{a['total_tasks']}",
           f"  Pass Rate:             {a['correctness_pass_rate']:.1f}%",
           "Performance:",
           f"  Speedup > 1.0 Count:   {a['speedup_gt_1_count']}/{a['total_tasks']}",
           f"  Speedup > 1.0 Rate:    {a['speedup_gt_1_rate']:.1f}%",
           f"  Average Speedup:       {a['average_speedup']:.2f}x",
           f"  Median Speedup:        {a['median_speedup']:.2f}x",
           f"  Std Dev Speedup:       {a['std_dev_speedup']:.2f}x",
           f"  P25/P75/P90 Speedup:   {a['p25_speedup']:.2f}x / {a['p75_speedup']:.2f}x / {a['p90_speedup']:.2f}x",
           f"  Valid Speedup Count:   {a['valid_speedup_count']}",
           "", "TASK TYPE BREAKDOWN:", ""]
    for name, t in types.items():
        out += [f"  {name} ({t['count']} tasks):",
                f"    Average Speedup:     {t['average_speedup']:.2f}x",
                f"    Median Speedup:      {t['median_speedup']:.2f}x",
                f"    Std Dev Speedup:     {t['std_dev_speedup']:.2f}x",
                f"    P25/P75/P90 Speedup: {t['p25_speedup']:.2f}x / {t['p75_speedup']:.2f}x / {t['p90_speedup']:.2f}x",
                f"    Compilation Pass:     {t['compilation_pass_count']}/{t['count']}",
                f"    Compilation Pass Rate: {t['compilation_pass_rate']:.1f}%",
                f"    Correctness Pass:     {t['correctness_pass_count']}/{t['count']}",
                f"    Correctness Pass Rate: {t['correctness_pass_rate']:.1f}%",
                f"    Speedup > 1.0:        {t['speedup_gt_1_count']}/{t['count']} ({t['speedup_gt_1_rate']:.1f}%)",
                f"    Average Score:        {t['average_score']:.2f}", ""]
    valid = [r for r in rows if r["pass_correctness"] and r["speedup_ratio"] > 0]
    best = max(valid, key=lambda r: r["speedup_ratio"])
    worst = min(valid, key=lambda r: r["speedup_ratio"])
    out += ["TOTAL PERFORMANCE SUMMARY:",
            f"  Overall Average Speedup:  {a['average_speedup']:.2f}x",
            f"  Tasks with Speedup > 1.0: {a['speedup_gt_1_count']}/{a['total_tasks']} ({a['speedup_gt_1_rate']:.1f}%)",
            f"  Best Speedup:            {best['speedup_ratio']:.2f}x (task: {best['task_name']})",
            f"  Worst Speedup:           {worst['speedup_ratio']:.2f}x (task: {worst['task_name']})",
            "", "TASK DETAILS:", "-" * 80]
    for r in rows:
        status = "PASS" if r["pass_correctness"] else "PARTIAL" if r["pass_compilation"] else "FAIL"
        out.append("%-8s %-40s Score: %6.1f  Speedup: %.2fx" % (status, r["task_name"], r["score"], r["speedup_ratio"]))
    return "\n".join(out + [rule, ""])


def main():
    run = pathlib.Path(sys.argv[1]) / f"workspace_{GPU}_{AGENT}" / RUN
    workspaces = sorted((r["task_name"].replace("/", "_") + "_20260102_030405", r) for r in RESULTS)
    for name, r in workspaces:
        (run / name).mkdir(parents=True, exist_ok=True)
        (run / name / "task_result.yaml").write_text(yaml.dump(r, sort_keys=False))
    rows = [r for _, r in workspaces]
    overall = stats(rows, "total_tasks")
    types = {t: stats([r for r in rows if r["task_name"].split("/")[0] == t], "count")
             for t in sorted({r["task_name"].split("/")[0] for r in rows})}
    expected = pathlib.Path(sys.argv[1]) / "expected"
    expected.mkdir(exist_ok=True)
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(["Task Name", "Task Type", "Score", "Speedup", "Optimization_summary"])
    for r in rows:
        writer.writerow([r["task_name"], r["task_name"].split("/")[0], f"{r['score']:.4f}", f"{r['speedup_ratio']:.4f}",
                         r["optimization_summary"].strip()])
    (expected / "overall_summary.csv").write_bytes(table.getvalue().encode())
    (expected / "task_type_breakdown.json").write_text(json.dumps(
        {"run_timestamp": RUN[4:], "agent": AGENT, "target_gpu": GPU, "overall": overall, "task_types": types}, indent=2))
    (expected / "overall_report.txt").write_text(text_report(rows, overall, types))


main()
