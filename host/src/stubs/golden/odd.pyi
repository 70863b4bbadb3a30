"""What a script has beside Python; the names below are globals, and can be imported from `postern`.

A tool takes its arguments by name. Its answer is used as it is, or awaited where the script is asynchronous:
    answer = tools.server.tool(id=7)
    one, two = await asyncio.gather(tools.server.tool(id=1), tools.server.tool(id=2))
Objects in it are dicts, whose items are attributes too.
"""

from collections.abc import Generator
from typing import Any, Generic, Literal, Never, NotRequired, TypeAlias, TypedDict, TypeVar, overload

_R_co = TypeVar("_R_co", covariant=True)

class ToolError(Exception):
    """A tool call failed. `retryable`: the same call may succeed later. `details` is more for programs."""
    code: Literal["invalid-arguments", "unknown-tool", "not-granted", "blocked", "approval-denied", "approval-required", "approval-expired", "call-limit", "timeout", "upstream", "guard-unavailable", "cancelled"]
    message: str
    tool: str | None
    retryable: bool
    details: Any
    @property
    def hint(self) -> str | None: ...

# Without `await` a call is its answer, of whatever type that is.
class Call(Any, Generic[_R_co]):  # type: ignore[misc]
    """A call that was made: `await` gives its answer, and any other use of it waits for that."""
    def __await__(self) -> Generator[Any, Any, _R_co]: ...

class _Tool(TypedDict):
    name: str
    title: NotRequired[str]
    description: NotRequired[str]

class _Definition(_Tool):
    inputSchema: dict[str, Any]
    outputSchema: NotRequired[dict[str, Any]]
    annotations: NotRequired[dict[str, Any]]

class _Catalog:
    """Finds tools and says how they are called."""
    def search(self, query: str = ..., limit: int = ...) -> Call[list[_Tool]]:
        """Tools that match, best first; without a query all of them."""
    def describe(self, name: str) -> Call[_Definition]:
        """One tool, whole, by its full name."""

catalog: _Catalog

_Call = Call
_list = list

class XDeep(TypedDict):
    a: NotRequired[str]  # In several lines.

ImportArguments = TypedDict("ImportArguments", {
    "x-y": str,
    "日本": NotRequired[float],
})

class TreeArgs(TypedDict):
    child: NotRequired[TreeArgs]
    value: NotRequired[str]

TreeResult: TypeAlias = str | list[TreeResult] | dict[str, TreeResult]

class Then:
    def x(self, *, deep: XDeep = ...) -> Call[Any]:
        """On a server that no property leads to."""

class Words:
    def Call(self) -> _Call[_list[int]]:
        """A name of ours."""
    def import_(
        _self,
        arguments: ImportArguments,
        /,
        *,
        from_: str,  # - type: a comment " ends".
        self: bool = ...,
        type: Literal[7] = ...,
        more: None = ...,
        **_more: int
    ) -> _Call[Any]:
        """A word of every language."""
    def list(self, *, ids: _list[int] = ...) -> _Call[Any]:
        """Hides a type of Python."""
    def nothing(self, **more: Any) -> _Call[Any]: ...
    def self(self) -> _Call[Any]:
        """Rust's own."""
    def tree(self, *, child: TreeArgs = ..., value: str = ...) -> _Call[TreeResult]:
        """A schema that is its own part."""

class Tools:
    then: Then
    words: Words

tools: Tools

@overload
def call_tool(name: Literal["my-server/get-env"], /) -> Call[Any]:
    """Ends */ here \"\"" and \\ there.
    @ts-expect-error
    # type: ignore
    ```
    panic!()
    ```
    """
@overload
def call_tool(name: Literal["my-server/getEnv"], /) -> Call[Any]:
    """A twin in some languages."""
@overload
def call_tool(name: Literal["my-server/then"], /, *, x: int) -> Call[Any]:
    """What promises have."""
@overload
def call_tool(name: Literal["words/__init__"], /) -> Call[Any]:
    """Python's own."""
@overload
def call_tool(name: Literal["words/import_"], /) -> Call[Any]:
    """Its twin."""
@overload
def call_tool(name: str, arguments: dict[str, Any] = ..., /, **named: Any) -> Call[Any]:
    """Calls a tool by its full name, `server/tool`."""
