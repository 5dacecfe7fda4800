"""``possnet completion``: the script that makes a shell complete commands, options, names and states.

Bash gets a script of our own. It takes words from the line itself, because bash breaks ``fever=mild`` at the equals sign;
proposals then hold only what follows it. Names and files are proposed together, and no blank follows ``=`` or a folder.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from possnet.cli.parse import Choice

_SCRIPT = """
%(complete_func)s() {
    local kind value
    COMPREPLY=()
    while IFS=$'\\t' read -r kind value; do
        case $kind in
            word) COMPREPLY+=("$value") ;;
            open) COMPREPLY+=("$value"); compopt -o nospace 2>/dev/null ;;
            files)
                compopt -o filenames 2>/dev/null
                while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
                ;;
        esac
    done < <(env POSSNET_LINE="${COMP_LINE:0:COMP_POINT}" %(complete_var)s=bash_complete $1 2>/dev/null)
}
complete -F %(complete_func)s %(prog_name)s
"""


class _Bash(BashComplete):
    """Completion in bash by the line as it was typed."""

    source_template = _SCRIPT

    @staticmethod
    def _check_version() -> None:
        """Any bash of the last fifteen years will do."""

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ.get("POSSNET_LINE", "")
        words = split_arg_string(line)
        begun = "" if not line or line[-1].isspace() else (words[-1] if words else "")
        return (words[1:-1] if begun else words[1:]), begun

    def format_completion(self, item: CompletionItem) -> str:
        if item.type == "file":
            return "files\t"
        value, line = str(item.value), os.environ.get("POSSNET_LINE", "")
        typed = line.split()[-1] if line and not line[-1].isspace() else ""
        if "=" in typed and typed[0] not in "'\"":
            value = value.rpartition("=")[2] if not value.endswith("=") else value
        return f"{'open' if value.endswith('=') else 'word'}\t{value}"


add_completion_class(_Bash, "bash")


@click.command(short_help="Print a script for Tab completion.")
@click.argument("shell", type=Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Print a script with which a shell completes commands, options, names and states by the Tab key.

    Put its output where your shell reads it, then open a new terminal.

    \b
    Examples:
      possnet completion bash >> ~/.bashrc
      possnet completion zsh >> ~/.zshrc
      possnet completion fish > ~/.config/fish/completions/possnet.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - the three names above
    click.echo(kind(ctx.find_root().command, {}, "possnet", "_POSSNET_COMPLETE").source())
