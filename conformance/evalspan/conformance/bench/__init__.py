"""Benchmarks as commands: what is measured, how often, and on which machine."""

__all__: list[str] = []
