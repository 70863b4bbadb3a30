// What a script has beside the language: `tools`, `callTool`, `catalog` and `ToolError`.
// A tool takes one object with its arguments, and gives a promise of its answer:
//   const answer = await tools.server.tool({ id: 7 });
// A name in quotes is written tools.server["odd-name"]({ ... }).

/** A tool call failed. `details` is more for programs. */
declare class ToolError extends Error {
  readonly code: "CODE";
  /** The tool's full name. */
  readonly tool: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  readonly details?: unknown;
}

/** Finds tools and says how they are called. */
declare const catalog: {
  /** Tools that match, best first; without a query all of them. */
  search(query?: string, limit?: number): Promise<{ name: string; title?: string; description?: string }[]>;
  /** One tool, whole, by its full name. */
  describe(name: string): Promise<{
    name: string;
    title?: string;
    description?: string;
    inputSchema: object;
    outputSchema?: object;
    annotations?: object;
  }>;
};

