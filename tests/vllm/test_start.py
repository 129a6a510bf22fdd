"""What vLLM is started with: the model is prepared once, and what cannot work is said before the first request."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalspan.backends.vllm_model import prepared_model
from evalspan.orchestrator import ModelError


def test_a_model_that_is_there_is_not_made_again(model: Path) -> None:
    before = (model / "model.safetensors").stat().st_mtime_ns
    assert prepared_model() == model
    assert (model / "model.safetensors").stat().st_mtime_ns == before
    assert not list(model.parent.glob(".*")), "an attempt left something behind"


def test_a_damaged_model_is_an_error_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + bytes(100))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ModelError, match=r"damaged\.gguf: transformers cannot read it") as refused:
        prepared_model(str(damaged))
    assert "\n" not in str(refused.value)
    assert not list((tmp_path / "cache" / "evalspan" / "models").iterdir())


def test_the_command_says_where_the_model_is_and_what_is_wrong(model: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evalspan.backends.vllm_model"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{model}\n"
    failed = subprocess.run([*command, str(tmp_path / "none.gguf")], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert failed.stderr == f"evalspan: {tmp_path}/none.gguf: cannot be read: No such file or directory\n"


def test_a_server_with_a_broken_registry_does_not_start_and_says_why(model: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("version = 1\n[[span]]\nname = 'x'\n")
    command = [str(Path(sys.executable).with_name("vllm")), "serve", str(model), "--max-model-len", "256"]
    command += ["--host", "127.0.0.1", "--port", "1", "--enforce-eager"]
    command += ["--logits-processors", "evalspan.backends.vllm_plugin:EvaluatorLogitsProcessor"]
    environment = {**os.environ, "EVALSPAN_REGISTRIES": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode != 0
    assert "RegistryError" in done.stdout + done.stderr
    assert f"{tmp_path}/broken.toml: span[0]" in done.stdout + done.stderr
