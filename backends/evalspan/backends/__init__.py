"""How models run: adapters to the orchestrator's backend protocol, reached through their entry point."""

__all__: list[str] = []
