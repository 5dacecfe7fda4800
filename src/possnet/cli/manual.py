"""The manual of the command line, made from the commands themselves: docs/cli.md."""

from __future__ import annotations

from possnet.cli import main

_PREFACE = """# The command line

This page is made from the commands themselves (`make docs`); `possnet COMMAND --help` says the same.

- `NET` is a network's file or the name of a bundled network. `DATA` is a file of data, a folder of them, or a pattern in
  quotes. Their formats are listed under `possnet convert`. `-` is standard input, in any format, or standard output: data
  as CSV, networks as JSON.
- Results go to standard output, everything else to standard error; `--json` is for machines. Progress is drawn only on a
  terminal. There is colour on a terminal alone, unless `NO_COLOR` is set or `possnet --no-color COMMAND` asks for none.
- Every file that is written is named on standard error: `Wrote patients.csv: 1,000 rows of 8 variables`.
- Exit codes: 0 done, 1 an input cannot be used (one line says why), 2 the command line cannot be understood, 130 stopped
  with Ctrl-C.
- What you should know of a result that stands all the same is a line `Note: ...` on standard error; every `--json`
  document has these texts in a list under `"notes"`, beside its other keys.
- Names such as methods, learners and metrics are those that are registered, also by your own code
  ([adding to possnet](contributing.md)).
- Files are written whole or not at all.
- The Tab key: `possnet completion bash >> ~/.bashrc` (or `zsh`, `fish`), then a new terminal.
"""


def manual() -> str:
    """Markdown text with the help of every command.

    >>> manual().startswith("# The command line")
    True
    """
    context = main.context_class(main, info_name="possnet", **main.context_settings)
    parts = [_PREFACE]
    for name in main.list_commands(context):
        command = main.commands[name]
        inner = command.context_class(
            command, parent=context, info_name=name, max_content_width=100, terminal_width=100
        )
        parts.append(f"## possnet {name}\n\n```text\n{inner.get_help()}\n```\n")
    return "\n".join(parts)
