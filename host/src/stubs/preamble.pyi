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
    code: Literal["CODE"]
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

