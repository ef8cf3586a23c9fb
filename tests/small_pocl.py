#!/usr/bin/env python3
"""Makes FOLDER/pocl.icd, which registers PoCL with only those built-in functions that our texts name.

    tests/small_pocl.py FOLDER

In each process that compiles a kernel PoCL reads its library of 22 thousand functions, 9 MB, and their declarations, 0.9 MB:
half of what the tests on PoCL took. The code of kernels stays the same, and a function that is missing is an error of its
compiler or linker. PoCL looks for both beside the place that it was loaded from, so FOLDER has links to PoCL and to all
else. Where a tool or PoCL's usual layout is missing, FOLDER/pocl.icd registers PoCL as it is installed, and a line says why.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
REGISTERED = pathlib.Path("/etc/OpenCL/vendors/pocl.icd")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# Tests make their names of parts.
ALWAYS = re.compile("v(load|store)|(read|write)_image")


def named_functions():
    """Identifiers of our kernels and of what makes their build options, and what is called in the tests' own kernels."""
    names = set()
    for path in [*(ROOT / "cl").rglob("*.*"), *(ROOT / "host/experiments").rglob("*.cpp")]:
        names.update(re.findall(r"[A-Za-z_]\w*", re.sub(r"//.*", "", path.read_text())))
    for path in (ROOT / "tests").rglob("*"):
        if path.suffix in (".py", ".cl", ".cpp", ".hpp", ".cllab", ".h"):
            names.update(re.findall(r"([A-Za-z_]\w*)(?: ?\(|##)", path.read_text()))
    return names


def is_kept(symbol, all_symbols, names):
    """A C function is what others call, or PoCL itself; a built-in one may have a twin with a prefix, which texts call."""
    match = re.match(r"_Z(\d+)(_cl_)?", symbol)
    if not match:
        return not symbol.startswith("Sleef")
    if not match[2] and f"_Z{int(match[1]) + 4}_cl_{symbol[match.end():]}" in all_symbols:
        return False
    name = symbol[match.end():][:int(match[1]) - len(match[2] or "")]
    return name in names or ALWAYS.match(name) is not None


def make_small(library, to, tools, names):
    symbols = {line.split()[-1] for line in output_of(tools["nm"], library).splitlines() if " T " in line}
    kept = ["--rglob=.*", *(f"--func={s}" for s in sorted(symbols) if is_kept(s, symbols, names))]
    response = to.with_suffix(".functions")
    text = "\n".join(kept)
    if to.exists() and response.exists() and response.read_text() == text and to.stat().st_mtime > library.stat().st_mtime:
        return
    response.write_text(text)
    subprocess.run([tools["extract"], "--recursive", f"@{response}", library, "-o", to], check=True)


def small_header(text, names):
    """Without declarations of one line whose function nobody names; other lines stay where they are."""
    def is_kept(line):
        match = re.match(r".*?\b__ovld\b.*?(\w+)\([^()]*\);$", line)
        return not match or match[1] in names or ALWAYS.match(match[1])
    return "\n".join(line if is_kept(line) else "" for line in text.split("\n"))


def installed():
    """Where PoCL is, and its data; the tools of its LLVM. Raises LookupError, with what is missing."""
    name = REGISTERED.read_text().strip()
    lines = [line for line in output_of("/sbin/ldconfig", "-p").splitlines() if line.strip().startswith(name.split(".so")[0])]
    if not lines:
        raise LookupError(f"ldconfig does not know '{name}'")
    library = pathlib.Path(lines[0].split("=> ")[1]).resolve()
    data = library.parent / "../../share/pocl"
    if not list(data.glob("kernel-*.bc")):
        raise LookupError(f"'{data}' has no kernel-*.bc")
    version = re.search(r"libLLVM[-.](?:so\.)?(\d+)", output_of("ldd", str(library)))
    if not version:
        raise LookupError(f"'{library}' does not use LLVM as a shared library")
    tools = {tool: shutil.which(f"llvm-{tool}-{version[1]}") for tool in ("nm", "extract")}
    if not all(tools.values()):
        raise LookupError(f"there is no llvm-extract-{version[1]}; apt-get install llvm-{version[1]}")
    return library, data.resolve(), tools


def link(place, to):
    place.unlink(missing_ok=True)
    place.symlink_to(to)


def main():
    folder = pathlib.Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        library, data, tools = installed()
    except (LookupError, OSError) as e:
        print(f"PoCL is used as it is installed: {e}")
        if REGISTERED.exists():
            shutil.copy(REGISTERED, folder / "pocl.icd")
        return
    near, share = folder / "lib" / library.parent.name, folder / "share/pocl"
    for place in near, share / "include":
        place.mkdir(parents=True, exist_ok=True)
    link(near / library.name, library)
    link(near / "pocl", library.parent / "pocl")
    names = named_functions()
    for header in (data / "include").iterdir():
        if header.name == "opencl-c.h":
            (share / "include" / header.name).write_text(small_header(header.read_text(), names))
        else:
            link(share / "include" / header.name, header)
    for bitcode in data.glob("kernel-*.bc"):
        make_small(bitcode, share / bitcode.name, tools, names)
    (folder / "pocl.icd").write_text(f"{near / library.name}\n")


main()
