// What a script has beside the language: `tools`, `callTool`, `catalog` and `ToolError`.
// A tool takes one object with its arguments, and gives a promise of its answer:
//   const answer = await tools.server.tool({ id: 7 });
// A name in quotes is written tools.server["odd-name"]({ ... }).

/** A tool call failed. `details` is more for programs. */
declare class ToolError extends Error {
  readonly code: "invalid-arguments" | "unknown-tool" | "not-granted" | "blocked" | "approval-denied" | "approval-required" | "approval-expired" | "call-limit" | "timeout" | "upstream" | "guard-unavailable" | "cancelled";
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

/** What promises have. */
declare function callTool(name: "my-server/then", args: { x: number }): Promise<unknown>;
/** On a server that no property leads to. */
declare function callTool(name: "then/x", args?: {
  deep?: {
    /** In several lines. */
    a?: string;
  };
}): Promise<unknown>;
/** Calls a tool by its full name, `server/tool`. */
declare function callTool(name: string, args?: object): Promise<unknown>;

declare const tools: {
  "my-server": {
    /**
     * Ends *\/ here """ and \ there.
     * @ ts-expect-error
     * # type: ignore
     * ```
     * panic!()
     * ```
     */
    "get-env"(args?: {}): Promise<unknown>;
    /** A twin in some languages. */
    getEnv(args?: {}): Promise<unknown>;
  };
  words: {
    /** A name of ours. */
    Call(args?: {}): Promise<number[]>;
    /** Python's own. */
    __init__(args?: {}): Promise<unknown>;
    /** A word of every language. */
    import(args: {
      /** type: a comment " ends". */
      from: string;
      "x-y": string;
      self?: boolean;
      type?: 7;
      more?: null;
      "日本"?: number;
      [name: string]: unknown;
    }): Promise<unknown>;
    /** Its twin. */
    import_(args?: {}): Promise<unknown>;
    /** Hides a type of Python. */
    list(args?: { ids?: number[] }): Promise<unknown>;
    nothing(args?: { [name: string]: unknown }): Promise<unknown>;
    /** Rust's own. */
    self(args?: {}): Promise<unknown>;
    /** A schema that is its own part. */
    tree(args?: tools.words.TreeArgs): Promise<tools.words.TreeResult>;
  };
};

declare namespace tools.words {
  interface TreeArgs {
    child?: tools.words.TreeArgs;
    value?: string;
  }
  type TreeResult = string | tools.words.TreeResult[] | { [name: string]: tools.words.TreeResult };
}
