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

/** Calls a tool by its full name, `server/tool`. */
declare function callTool(name: string, args?: object): Promise<unknown>;

declare const tools: {
  crm: {
    /**
     * Writes something down.
     * Needs at least one of these: customer_id; email.
     */
    add_event(args: {
      event: {
        kind: "call";
        /** More than 0. */
        minutes: number;
      } | { kind: "visit"; place?: [number, number] };
      customer_id?: number;
      /** Format: email. */
      email?: string;
      labels?: { [name: string]: string };
      /** More than 0. */
      again?: number;
    }): Promise<unknown>;
    /** One customer. */
    get_customer(args: { id: number }): Promise<tools.crm.Customer>;
    /**
     * Lists customers.
     *
     * Newest first.
     */
    list_customers(args?: {
      /** How many. 1 to 100. Default: 10. */
      limit?: number;
      status?: "active" | "churned";
      /** Format: date-time. */
      since?: string;
      sort?: { by: "name" | "id"; descending?: boolean };
    }): Promise<{ customers: tools.crm.Customer[]; nextCursor?: string | null }>;
    ping(args?: {}): Promise<boolean>;
    /** Finds by a tree of conditions. */
    query(args: { where: tools.crm.Condition }): Promise<{ [name: string]: unknown }[]>;
  };
};

declare namespace tools.crm {
  /** Who buys. */
  interface Customer {
    id: number;
    name: string;
    status: "active" | "churned";
    parent?: tools.crm.Customer | null;
    tags?: string[];
  }
  type Condition = { field: string; equals: unknown } | { and: tools.crm.Condition[] };
}
