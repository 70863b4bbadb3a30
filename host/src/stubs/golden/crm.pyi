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

class AddEventEventCall(TypedDict):
    kind: Literal["call"]
    minutes: float  # More than 0.

class AddEventEventVisit(TypedDict):
    kind: Literal["visit"]
    place: NotRequired[tuple[float, float]]

class Customer(TypedDict):
    """Who buys."""
    id: int
    name: str
    status: Literal["active", "churned"]
    parent: NotRequired[Customer | None]
    tags: NotRequired[list[str]]

class ListCustomersSort(TypedDict):
    by: Literal["name", "id"]
    descending: NotRequired[bool]

class ListCustomersResult(TypedDict):
    customers: list[Customer]
    nextCursor: NotRequired[str | None]

Condition: TypeAlias = Condition1 | Condition2

class Condition1(TypedDict):
    field: str
    equals: Any

Condition2 = TypedDict("Condition2", {
    "and": list[Condition],
})

class Crm:
    def add_event(
        self,
        *,
        event: AddEventEventCall | AddEventEventVisit,
        customer_id: int = ...,
        email: str = ...,  # Format: email.
        labels: dict[str, str] = ...,
        again: float = ...,  # More than 0.
    ) -> Call[Any]:
        """Writes something down.
        Needs at least one of these: customer_id; email.
        """
    def get_customer(self, *, id: int) -> Call[Customer]:
        """One customer."""
    def list_customers(
        self,
        *,
        limit: int = ...,  # How many. 1 to 100. Default: 10.
        status: Literal["active", "churned"] = ...,
        since: str = ...,  # Format: date-time.
        sort: ListCustomersSort = ...,
    ) -> Call[ListCustomersResult]:
        """Lists customers.

        Newest first.
        """
    def ping(self) -> Call[bool]: ...
    def query(self, *, where: Condition) -> Call[list[dict[str, Any]]]:
        """Finds by a tree of conditions."""

class Tools:
    crm: Crm

tools: Tools

def call_tool(name: str, arguments: dict[str, Any] = ..., /, **named: Any) -> Call[Any]:
    """Calls a tool by its full name, `server/tool`."""
