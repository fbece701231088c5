"""The command line: absl flags made from the configuration's fields, every mistake collected."""

from __future__ import annotations

import dataclasses
import difflib
import math
import textwrap
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from absl import flags

from nmt.config import Option, TrainConfig

Config = TypeVar("Config")


SAID_ELSEWHERE: Final = {"num_gpus": "num_replicas", "beam_size": "beam_width"}
"""What other programs call flags of ours."""


class Field(NamedTuple):
    """One field of one part of the configuration."""

    part: str
    name: str
    kind: type
    default: Any
    option: Option


class Rejected(NamedTuple):
    """Stands in for a value that cannot be used; the sentence says why and what would do."""

    sentence: str


class HelpRequested(Exception):
    """The user asked for help; the text is the answer."""


class FieldParser(flags.ArgumentParser[Any]):
    """Turns text into a field's value, or into a Rejected that is reported with all others."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def parse(self, argument: Any) -> Any:
        """Converts and checks one value."""
        try:
            value = self.convert(argument)
        except ValueError:
            kind = {int: "a whole number", float: "a number", bool: "true or false"}
            kind[str] = "a value that is no flag"
            return self.rejected(argument, f"give {kind[self.field.kind]}")
        complaint = self.field.option.complaint(value)
        return self.rejected(argument, complaint) if complaint else value

    def convert(self, argument: Any) -> Any:
        """Converts text to the field's type; raises ValueError where it cannot."""
        if self.field.kind is bool:
            return flags.BooleanParser().parse(argument)
        value = self.field.kind(argument)
        if self.field.kind is float and not math.isfinite(value):
            raise ValueError
        if self.field.kind is str and (value.startswith("--") or "\0" in value):
            raise ValueError
        return value

    def rejected(self, argument: Any, advice: str) -> Rejected:
        """A stand-in for a value that cannot be used."""
        return Rejected(f"--{self.field.name}={argument} cannot be used; {advice}")


@dataclass(frozen=True)
class Program(Generic[Config]):
    """A program whose command line is made from a configuration's parts."""

    name: str
    purpose: str
    kind: type[Config]

    def fields(self) -> Iterator[Field]:
        """All fields of the configuration, part by part."""
        for part, section in self.sections().items():
            kinds = typing.get_type_hints(section)
            for field in dataclasses.fields(section):
                yield Field(
                    part, field.name, kinds[field.name], field.default, field.metadata["option"]
                )

    def sections(self) -> dict[str, Any]:
        """The configuration's parts, by name."""
        return typing.get_type_hints(self.kind)

    def define(self) -> flags.FlagValues:
        """Defines one absl flag per field, and --help."""
        values = flags.FlagValues()  # type: ignore[no-untyped-call]
        for field in self.fields():
            flag: flags.Flag[Any] = flags.Flag(
                FieldParser(field),
                flags.ArgumentSerializer(),
                field.name,
                field.default,
                field.option.help,
                boolean=field.kind is bool,
            )
            flags.DEFINE_flag(flag, values)
        flags.DEFINE_boolean("help", False, "shows this list", flag_values=values, short_name="h")
        # absl reads --flagfile itself; defined here so that it is a known name.
        flags.DEFINE_string("flagfile", "", "reads more flags from a file", flag_values=values)
        return values

    def parse(self, argv: Sequence[str]) -> tuple[Config, list[str]]:
        """Reads a command line without the program's name; raises HelpRequested.

        Gives the configuration and all that is wrong; a rejected value leaves its field at the
        default.
        """
        arguments, problems = self.readable(argv)
        values = self.define()
        rest = values([self.name, *arguments], known_only=True)[1:]
        if values["help"].value:
            raise HelpRequested(self.help_text())
        problems += [self.unknown(argument) for argument in rest]
        for field in self.fields():
            value: Any = values[field.name].value
            if isinstance(value, Rejected):
                problems.append(value.sentence)
                values[field.name].value = field.default
        return self.build(values), problems

    def readable(self, argv: Sequence[str]) -> tuple[list[str], list[str]]:
        """Takes out what absl stumbles over: what is left, and one sentence for each removed."""
        arguments, problems = list(argv), []
        for empty in ("--flagfile=", "-flagfile="):
            if empty in arguments:
                arguments = [argument for argument in arguments if argument != empty]
                problems.append("--flagfile= names no file; name one, or leave it out")
        while stumble := self.failure(arguments):
            problems.append(stumble)
            without = ([*arguments[:i], *arguments[i + 1 :]] for i in range(len(arguments)))
            arguments = next((rest for rest in without if self.failure(rest) != stumble), [])
        return arguments, problems

    def failure(self, arguments: Sequence[str]) -> str | None:
        """Why absl cannot read these arguments at all, or None."""
        try:
            self.define()([self.name, *arguments], known_only=True)
        except UnicodeDecodeError:
            return "--flagfile is not a text file; name one with a flag on each line"
        except (flags.Error, ValueError) as error:
            return f"{str(error).removeprefix('ERROR:: ')}; see --help"
        return None

    def build(self, values: flags.FlagValues) -> Config:
        """Fills the configuration from parsed flags."""
        parts: dict[str, dict[str, Any]] = {}
        for field in self.fields():
            parts.setdefault(field.part, {})[field.name] = values[field.name].value
        sections = self.sections()
        return self.kind(**{part: sections[part](**chosen) for part, chosen in parts.items()})

    def unknown(self, argument: str) -> str:
        """Says that nothing is called like that, and what is called nearly like it."""
        if not argument.startswith("-"):
            return f"'{argument}' is not a flag; write --name=value"
        name = argument.lstrip("-").split("=")[0]
        if not name:
            return "-- alone is not a flag; leave it out"
        near = nearest(name, [field.name for field in self.fields()])
        advice = f"did you mean --{near}?" if near and near != name else "see --help"
        return f"--{name} is not known; {advice}"

    def help_text(self) -> str:
        """All flags with defaults and choices, grouped as the configuration is."""
        lines = [f"{self.name} {self.purpose}.", ""]
        for part, section in self.sections().items():
            lines.append(section.__doc__.rstrip(".") + ":")
            for field in self.fields():
                lines += describe(field) if field.part == part else []
        lines += ["Also:", "  --flagfile=FILE", "      more flags, one a line", "  --help"]
        return "\n".join(lines)


def nearest(name: str, known: Sequence[str]) -> str:
    """What a name that is not known may mean, or nothing.

    What other programs call so comes first, then what is spelled nearly so, then the only name
    that begins with it or has it as a word.
    """
    if elsewhere := SAID_ELSEWHERE.get(name):
        return elsewhere if elsewhere in known else ""
    if alike := difflib.get_close_matches(name, known, n=1, cutoff=0.75):
        return alike[0]
    longer = [one for one in known if one.startswith(name) or name in one.split("_")]
    if len(longer) == 1:
        return longer[0]
    return next(iter(difflib.get_close_matches(name, known, n=1)), "")


def describe(field: Field) -> list[str]:
    """One flag's lines in the help."""
    text = field.option.help
    if field.option.choices:
        text += f" ({', '.join(field.option.choices)})"
    head = f"  --[no]{field.name}" if field.kind is bool else f"  --{field.name}={field.default}"
    return [head, *textwrap.wrap(text, 92, initial_indent=" " * 6, subsequent_indent=" " * 6)]


TRAIN = Program("train.py", "trains a translation model and reports words per second", TrainConfig)
parse = TRAIN.parse
