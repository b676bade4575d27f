"""The model holds on machines of other widths and alignments: the ABI test compiles for each."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = "tests/abi/abi_generated.c"
MACHINES = ["x86_64-linux-gnu", "aarch64-linux-gnu", "armv7-linux-gnueabihf", "i386-linux-gnu", "wasm32", "riscv64"]


def main():
    failed = 0
    for machine in MACHINES:
        command = ["clang", f"--target={machine}", "-std=c11", "-ffreestanding", "-fsyntax-only", "-Werror"]
        done = subprocess.run([*command, "-Icore/include", SOURCE], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            failed += 1
            print(f"{machine}:\n{done.stderr}")
    print(f"{len(MACHINES) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    raise SystemExit(main())
