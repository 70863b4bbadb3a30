"""One run: from a script's text to its value, or to an error that its author can use.

The value is what a script returns (models write a `return` at top level), else what its last expression gives,
else what it called `result`, else what its function `main` returns, which is called if the script does not do
that itself.
"""

import ast
import builtins
import inspect
import sys
import types
import warnings as python_warnings

from componentize_py_types import Err
from wit_world import Completion

from _postern import door, failure, fresh, loop, values

VALUE = "__postern_value__"
RETURN = "__postern_return__"
# What the function is called that a script of functions runs.
MAIN = ("main", "run", "execute")
FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
MOST_WARNINGS = 50
# What a script has beside Python.
SHARED = {"tools": door.tools, "catalog": door.catalog, "call_tool": door.call_tool, "ToolError": door.ToolError}


class _Returned(BaseException):
    """Carries what a `return` at top level gives out of the script; nothing that catches errors catches it."""

    def __init__(self, value=None):
        self.value = value


def run(source: str) -> Completion:
    """Runs one script."""
    fresh.begin()
    notes: list[str] = []
    python_warnings.showwarning = _keep_warnings(notes, python_warnings.showwarning)
    failure.show_source(source)
    problem, text = None, "null"
    try:
        text = _value(source, notes)
        # An error of a task that nobody awaited is no less an error.
        if loop.unseen:
            problem = loop.unseen[0]
    except BaseException as error:
        problem = error
    said = notes + door.lost()
    door.end()
    _flush()
    if len(said) > MOST_WARNINGS:
        said[MOST_WARNINGS:] = [f"and {len(said) - MOST_WARNINGS} more of the same kind"]
    said = [values.clean(line) for line in said]
    if problem is not None:
        raise Err(failure.report(problem, said))
    return Completion(text, said)


def _value(source: str, notes: list[str]) -> str:
    """The script's value, as JSON text."""
    plan = _Plan(source)
    door.begin(plan.asynchronous)
    module = types.ModuleType("__main__")
    names = module.__dict__
    names.update(SHARED, __builtins__=builtins, __file__=door.SCRIPT)
    names[RETURN] = _Returned
    sys.modules["__main__"] = module
    if plan.suspends:
        implied, value = loop.run(_asynchronously(plan, names))
    else:
        implied, value = _plainly(plan, names)
    subject = "the value of the last expression" if implied else "the script's value"
    try:
        return values.encode(value, subject, numbers=False)
    except Exception as error:
        # It was perhaps never meant as a result, so it may be anything.
        if not implied or isinstance(error, door.ToolError):
            raise
        notes.append(f"{error}. So the run has no value: end the script with what it should give")
        return "null"


def _plainly(plan, names):
    try:
        exec(plan.code, names)
        implied, value = plan.outcome(names)
    except (_Returned, SystemExit) as end:
        implied, value = _ended(end, names)
    return implied, loop.run(value) if inspect.isawaitable(value) else value


async def _asynchronously(plan, names):
    try:
        await eval(plan.code, names)
        implied, value = plan.outcome(names)
    except (_Returned, SystemExit) as end:
        implied, value = _ended(end, names)
    if inspect.isawaitable(value):
        value = await value
    await loop.settle()
    return implied, value


def _ended(end, names):
    """What a script gives that ended before its last line."""
    if isinstance(end, _Returned):
        return False, end.value
    if end.code in (None, 0):
        return False, names.get("result")
    raise end


class _Plan:
    """A script, compiled, and where its value will be."""

    def __init__(self, source: str):
        tree = ast.parse(source, door.SCRIPT)
        self.main = _main(tree)
        self.asynchronous = any(map(_is_asynchronous, ast.walk(tree)))
        _returns(tree.body)
        _keep_last(tree.body)
        self.code = compile(tree, door.SCRIPT, "exec", flags=FLAGS, dont_inherit=True)
        self.suspends = bool(self.code.co_flags & inspect.CO_COROUTINE)

    def outcome(self, names):
        """(whether it was the last expression, the value); the value may have to be awaited."""
        value = names.pop(VALUE, None)
        if value is not None:
            return True, value
        if names.get("result") is not None:
            return False, names["result"]
        function = names.get(self.main) if self.main else None
        return False, _call(function) if callable(function) else None


def _call(function):
    """Calls a script's main function with what it wants of what every script has."""
    wanted = inspect.signature(function).parameters.values()
    return function(
        **{one.name: SHARED[one.name] for one in wanted if one.name in SHARED and one.kind is not one.POSITIONAL_ONLY}
    )


def _is_asynchronous(node) -> bool:
    match node:
        case ast.Await() | ast.AsyncFor() | ast.AsyncWith() | ast.AsyncFunctionDef():
            return True
        case ast.comprehension(is_async=1):
            return True
        case ast.Import(names=names):
            return any(name.name.partition(".")[0] == "asyncio" for name in names)
        case ast.ImportFrom(module="asyncio"):
            return True
    return False


def _main(tree):
    """The name of the function that the script is made of and does not call itself."""
    functions = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    name = next((name for name in MAIN if name in functions), None)
    if name is None and len(functions) == 1:
        quiet = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
        documentation = lambda node: isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if all(isinstance(node, quiet) or documentation(node) for node in tree.body):
            name = functions[0]
    if name is None:
        return None
    called = any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in ast.walk(tree)
    )
    return None if called else name


def _inner(statement):
    """The lists of statements within one, but for those of functions and classes."""
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, None) or []
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _returns(body):
    """Makes a `return` at top level the end of the script."""
    lists = [body]
    while lists:
        statements = lists.pop()
        for index, statement in enumerate(statements):
            if isinstance(statement, ast.Return):
                given = [statement.value] if statement.value is not None else []
                end = ast.Raise(ast.Call(ast.Name(RETURN, ast.Load()), given, []), None)
                statements[index] = ast.fix_missing_locations(ast.copy_location(end, statement))
            elif not isinstance(statement, SCOPES):
                lists.extend(_inner(statement))


def _keep_last(body):
    """Keeps the value of the statement that comes last, where it is an expression."""
    lists = [body]
    while lists:
        statements = lists.pop()
        if not statements:
            continue
        last = statements[-1]
        if isinstance(last, ast.Expr):
            kept = ast.Assign([ast.Name(VALUE, ast.Store())], last.value)
            statements[-1] = ast.fix_missing_locations(ast.copy_location(kept, last))
        elif isinstance(last, (ast.If, ast.Try, ast.TryStar)):
            lists.extend([last.body, last.orelse])
            lists.extend(handler.body for handler in getattr(last, "handlers", ()))
        elif isinstance(last, (ast.With, ast.AsyncWith)):
            lists.append(last.body)
        elif isinstance(last, ast.Match):
            lists.extend(case.body for case in last.cases)


def _keep_warnings(notes, original):
    """Takes Python's warning of a coroutine that nobody awaited for the report; others go where they always go."""

    def show(message, category, filename, lineno, file=None, line=None):
        text = str(message)
        if category is RuntimeWarning and "never awaited" in text:
            notes.append(f"{text} (line {lineno})" if filename == door.SCRIPT else text)
        else:
            original(message, category, filename, lineno, file, line)

    return show


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        # The script may have put anything in their place.
        except Exception:
            pass


def install() -> None:
    """Makes what scripts see importable too; when the component is built."""
    module = types.ModuleType("postern", "What a script has beside Python: tools, catalog, call_tool, ToolError.")
    module.__dict__.update(SHARED, DeadlockError=loop.DeadlockError)
    sys.modules["postern"] = module
    sys.modules["tools"], sys.modules["catalog"] = door.tools, door.catalog


install()
