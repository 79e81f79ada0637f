"""Counts what each stage costs: started by Tests/StageCosts/check."""
import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).parent
budgets = here / "budgets.json"
# Runs of one build differ by less than a hundredth; a tenth more is a change of the code.
TOLERANCE = 0.10
ALLOCATING = ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc")
CASES = ("subscribed", "renewed", "renewal-off", "failed-to-renew", "recovered", "expired", "refunded", "one-time-charge")
SEEDS = 3
# Hash tables and addresses must not depend on the run, nor OpenSSL's code on the processor. Its version still differs between
# machines, so the budgets leave libcrypto out and the table names it apart.
FIXED = {"SWIFT_DETERMINISTIC_HASHING": "1", "MALLOC_ARENA_MAX": "1", "OPENSSL_ia32cap": "0:0"}


def corpus(directory, work):
    """The notifications, one a line: the same kinds with the same ids in every run, under fresh keys."""
    lines = []
    for case in CASES:
        for seed in range(1, SEEDS + 1):
            lines.append(subprocess.run(
                [directory / "simulator", "make", "--bare", "--case", case, "--seed", str(seed), "--environment", "Production",
                 "--authority", work / "authority"], check=True, capture_output=True).stdout.strip())
    (work / "corpus").write_bytes(b"\n".join(lines))
    return work / "authority/root.pem", work / "corpus"


def functions(program):
    """The symbol of each stage; closures in it have longer ones."""
    symbols = [line.split()[-1] for line in subprocess.run(
        ["nm", program], check=True, capture_output=True, text=True).stdout.splitlines()]
    found = {}
    for symbol in symbols:
        name = re.match(r"\$s10StageCosts(\d+)(stage.*)", symbol)
        stage = name and name[2][:int(name[1])]
        if stage and len(symbol) < len(found.get(stage, symbol + "_")):
            found[stage] = symbol
    return found


def counts(dump):
    """Of a profile: instructions outside libcrypto, instructions in it, and allocations outside it."""
    instructions, allocations, in_libcrypto, callee = [0, 0], 0, False, ""
    lines = iter(dump.splitlines())
    for line in lines:
        if line.startswith("ob="):
            in_libcrypto = "/libcrypto." in line
        elif line.startswith("cfn="):
            callee = line[4:]
        elif line.startswith("calls="):
            if callee in ALLOCATING and not in_libcrypto:
                allocations += int(line[6:].split()[0])
            # What the called function cost; its own lines count that.
            next(lines)
        elif line[:1].isdigit():
            instructions[in_libcrypto] += int(line.split()[1])
    return *instructions, allocations


def measured(directory, work):
    """For each stage: what `counts` counts, and bytes in and bytes out, of one notification."""
    program = work / "StageCosts"
    # Debian's valgrind cannot read the debug information that Swift writes; the symbols remain.
    subprocess.run(["strip", "--strip-debug", "-o", program, directory / "StageCosts"], check=True)
    symbols = functions(program)
    options = [option for symbol in symbols.values() for option in (f"--zero-before={symbol}", f"--dump-after={symbol}")]
    told = subprocess.run(
        ["valgrind", "--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no",
         f"--callgrind-out-file={work / 'profile'}", *options, program, *corpus(directory, work)], check=True, capture_output=True, text=True, env=os.environ | FIXED).stdout
    last = {}
    for dump in sorted(work.glob("profile.*"), key=lambda path: int(path.suffix[1:])):
        text = dump.read_text(errors="replace")
        trigger = re.search(r"desc: Trigger: --dump-after=(\S+)", text)
        if trigger:
            last[trigger[1]] = text
    if "cfn=ECDSA_do_verify\n" in last[symbols["stageVerifier"]]:
        sys.exit("The counted signatures were checked without a table of the key: main.swift must check more of them before")
    stages = {}
    for line in told.splitlines():
        stage, number, bytes_in, bytes_out = line.split()
        counted = [round(count / int(number)) for count in counts(last[symbols[stage]])]
        stages[stage] = [*counted, int(bytes_in), int(bytes_out)]
    return stages


def main():
    parser = argparse.ArgumentParser(prog="Tests/StageCosts/check")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if platform.machine() != "x86_64":
        print(f"Not counted: the budgets are for x86_64, and this is {platform.machine()}")
        return 0
    with tempfile.TemporaryDirectory(prefix="storekeeper-stages-") as work:
        stages = measured(options.directory.absolute(), pathlib.Path(work))
    if options.table:
        print("| stage | instructions | libcrypto | allocations | bytes in | bytes out |\n| --- |" + " ---: |" * 5)
        for stage, (instructions, *others) in stages.items():
            print(f"| {stage.removeprefix('stage').lower()} | " + " | ".join(
                [f"{instructions:,}"] + [f"{other:,}" if other else "" for other in others]) + " |")
    if options.write:
        budgets.write_text(json.dumps({stage: values[0] for stage, values in stages.items()}, indent=4) + "\n")
        return 0
    if options.table:
        return 0
    failures = 0
    for stage, budget in json.loads(budgets.read_text()).items():
        ratio = stages[stage][0] / budget
        failures += ratio > 1 + TOLERANCE
        mark = "over the budget" if ratio > 1 + TOLERANCE else "lower the budget" if ratio < 1 - TOLERANCE else ""
        print(f"{stage:20}{stages[stage][0]:12,} of {budget:12,} instructions a notification, {ratio:.3f}  {mark}".rstrip())
    if failures:
        print("A stage costs more than a tenth above its budget. If it is meant to: Tests/StageCosts/check DIRECTORY --write")
    return 1 if failures else 0


sys.exit(main())
