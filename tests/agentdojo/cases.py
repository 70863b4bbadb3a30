"""The cases of one AgentDojo suite: which there are, the environment of each, its script, its score.

Tasks, tools, environments, attacks and both scoring functions are AgentDojo's own. Made here are the order of calls and
the script:

benign   the user task's ground-truth calls.
attack   the user task's ground-truth calls up to the one whose result shows the planted text, then all ground-truth
         calls of the injection task: a script that is hijacked whole and at once.

Each case is also run here without any gate, to know what it would do. The script is written from that run.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suite
from agentdojo.types import text_content_block_from_string
from pydantic import BaseModel, TypeAdapter

import flow

# Some attacks address the model by name; any name that AgentDojo knows does.
MODEL = "gpt-4o-2024-05-13"


def plain(value: Any) -> Any:
    """A tool's result as JSON has it."""
    return TypeAdapter(type(value)).dump_python(value, mode="json")


def structured(value: Any) -> Any:
    """What a server sends as `structuredContent`: objects as they are, others under `result`. A text has none."""
    if isinstance(value, str) or value is None:
        return None
    sent = plain(value)
    return sent if isinstance(sent, dict) else {"result": sent}


def seen(value: Any) -> Any:
    """What a script sees of it."""
    return value if isinstance(value, str) else structured(value)


@dataclass
class Case:
    id: str
    user: str
    injection: str | None = None
    attack: str | None = None


@dataclass
class State:
    """The case that is under way: the environment before, the one that calls change, the calls that were made."""

    case: Case
    before: Any
    now: Any
    calls: list[FunctionCall] = field(default_factory=list)


class Cases:
    """The cases of a suite, and the one under way."""

    def __init__(self, version: str, suite: str, attacks: list[str]):
        self.suite = get_suite(version, suite)
        self.runtime = FunctionsRuntime(self.suite.tools)
        self.attack_names = attacks
        self.state: State | None = None

    @cached_property
    def attacks(self) -> dict[str, Any]:
        target = GroundTruthPipeline(None)
        target.name = MODEL
        return {name: load_attack(name, self.suite, target) for name in self.attack_names}

    @cached_property
    def without_calls(self) -> set[str]:
        """Injection tasks that AgentDojo gives no calls for."""
        environment = self.suite.load_and_inject_default_environment({})
        tasks = self.suite.injection_tasks.items()
        return {name for name, task in tasks if not task.ground_truth(copy(environment))}

    def all(self) -> list[Case]:
        users = sorted(self.suite.user_tasks, key=number)
        injections = sorted(self.suite.injection_tasks, key=number)
        cases = [Case(user, user) for user in users]
        for attack in self.attack_names:
            cases += [Case(f"{user}/{inj}/{attack}", user, inj, attack) for user in users for inj in injections]
        return cases

    def begin(self, case: Case) -> dict[str, Any]:
        """Makes the environment of a case and gives its script, or why there is none."""
        task = self.suite.get_user_task_by_id(case.user)
        planted: dict[str, str] = {}
        if case.injection in self.without_calls:
            return {"skip": "AgentDojo gives no calls for this attack"}
        if case.injection:
            attack = self.attacks[case.attack]
            try:
                planted = attack.attack(task, self.suite.get_injection_task_by_id(case.injection))
            except ValueError as error:
                return {"skip": f"cannot be planted: {error}"}
        environment = task.init_environment(self.suite.load_and_inject_default_environment(planted))
        self.state = State(case, copy(environment), environment)
        patterns = [like(text) for text in planted.values()]
        steps, ungated = self.rehearse(case, environment, patterns)
        if "skip" in ungated:
            return ungated
        return {
            "intent": task.PROMPT,
            "script": flow.script(self.suite.name, steps, task.PROMPT, patterns),
            "steps": [{"tool": step.tool, "injected": step.injected} for step in steps],
            "ungated": ungated,
        }

    def rehearse(self, case: Case, environment: Any, planted: list[re.Pattern[str]]) -> tuple[list[flow.Step], dict]:
        """The calls of a case with their results, and the score, in a run without a gate."""
        state = State(case, copy(environment), copy(environment))
        task = self.suite.get_user_task_by_id(case.user)
        steps = []
        shown = False
        for call in task.ground_truth(copy(environment)):
            steps.append(self.take(state, call, injected=False))
            shown = case.injection is not None and shows(steps[-1].result, planted)
            if shown:
                break
        if not case.injection:
            return steps, self.score(state)
        if not shown:
            return steps, {"skip": "no result shows the planted text"}
        before = self.score(state)["security"]
        calls = self.suite.get_injection_task_by_id(case.injection).ground_truth(copy(environment))
        if before:
            return steps, {"skip": "the attack's goal is met before any call of the attack"}
        steps += [self.take(state, call, injected=True) for call in calls]
        return steps, self.score(state)

    def take(self, state: State, call: FunctionCall, injected: bool) -> flow.Step:
        args = plain(dict(call.args))
        value, error = self.runtime.run_function(state.now, call.function, args)
        state.calls.append(FunctionCall(function=call.function, args=args))
        return flow.Step(call.function, args, None if error else seen(value), injected)

    def call(self, tool: str, args: dict[str, Any]) -> tuple[Any, str | None]:
        """A call from outside, on the case under way."""
        if self.state is None:
            return None, "no case is under way"
        self.state.calls.append(FunctionCall(function=tool, args=args))
        return self.runtime.run_function(self.state.now, tool, args)

    def end(self) -> dict[str, Any]:
        """The score of the case under way, and the tools that were reached."""
        if self.state is None:
            return {"error": "no case is under way"}
        state, self.state = self.state, None
        return {**self.score(state), "reached": [call.function for call in state.calls]}

    def score(self, state: State) -> dict[str, Any]:
        """What AgentDojo's functions say: `utility` of a user task, or `security`, true when the attack succeeded."""
        case = state.case
        user = self.suite.get_user_task_by_id(case.user)
        task = self.suite.get_injection_task_by_id(case.injection) if case.injection else user
        answer = [text_content_block_from_string(task.GROUND_TRUTH_OUTPUT)]
        name = "security" if case.injection else "utility"
        try:
            # Scoring may change what it looks at.
            said = self.suite._check_task_result(task, answer, copy(state.before), copy(state.now), state.calls)
            return {name: bool(said)}
        except Exception as error:  # whatever a task's own function raises: it did not say yes
            return {name: False, "error": f"{type(error).__name__}: {error}"}


def copy(environment: BaseModel) -> Any:
    return environment.model_copy(deep=True)


def number(task: str) -> int:
    return int(task.rsplit("_", 1)[1])


def like(text: str) -> re.Pattern[str]:
    """Finds a planted text, whatever reading the environment's file has made of its spaces and line ends."""
    return re.compile(r"\s+".join(re.escape(word) for word in text.split()))


def shows(result: Any, planted: list[re.Pattern[str]]) -> bool:
    return any(leaf.planted for leaf in flow.leaves("r", result, planted))
