"""``possnet completion``: the script that makes a shell complete commands, options, names and states."""

from __future__ import annotations

import click

from possnet.cli.inputs import Choice

__all__ = ["completion"]


@click.command()
@click.argument("shell", type=Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that teaches a shell to complete possnet commands with the Tab key.

    Put its output where your shell reads it, then open a new terminal.

    \b
    Examples:
      possnet completion bash >> ~/.bashrc
      possnet completion zsh >> ~/.zshrc
      possnet completion fish > ~/.config/fish/completions/possnet.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - the three names above
    click.echo(kind(ctx.find_root().command, {}, "possnet", "_POSSNET_COMPLETE").source())
