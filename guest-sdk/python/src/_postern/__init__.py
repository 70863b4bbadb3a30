"""What the runner consists of; no part of it is meant for scripts. They use `tools`, `catalog`, `call_tool` and
`ToolError`, which are globals and can be imported from `postern`."""
