// Failures: a failed call throws a ToolError with a code, so a script can tell what went wrong and go
// on with what it has.

async function attempt(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return "ok";
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    console.log(`${error.tool}: ${error.message}`);
    return error.code;
  }
}

return {
  unknown_customer: await attempt(() => tools.crm.get_customer({ id: "C-0000" })), // the tool fails
  wrong_arguments: await attempt(() => tools.crm.get_customer({ customer: "C-1001" })), // never sent
  unknown_tool: await attempt(() => tools.crm.delete_customer({ id: "C-1001" })), // there is none
  fine: await attempt(() => tools.crm.get_customer({ id: "C-1001" })),
};
