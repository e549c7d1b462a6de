"""Reads the types of vendors' packages and prints the names that they define.

Standard input is a list of dialects with their types, as `dialects.toml` has them. Standard output is, for each
dialect, `{"dialect", "package", "names": [{"kind", "name"}]}`, without repetitions and in order.
"""

import enum
import gzip
import importlib
import importlib.metadata
import json
import sys
import types
import typing

# Members whose value names the variant of a union, the first one that a record has.
TAGS = ("type", "event_type", "error_code", "role")


class Record:
    """A type with members."""

    def __init__(self, key, members):
        self.key = key
        self.members = members

    def tag(self):
        """The member that names the variant, and its names."""
        for name in TAGS:
            words = [leaf for leaf in self.members.get(name, Nothing).leaves() if isinstance(leaf, str)]
            if words:
                return name, words
        return None, []


class Nothing:
    """The type of a missing member."""

    @staticmethod
    def leaves():
        return []


class Hint:
    """A type as Python annotates it."""

    def __init__(self, hint):
        self.hint = hint

    def leaves(self):
        """The words and records that a value may be, inside unions and lists."""
        hint = self.hint
        # An alias that was made with `TypeAliasType`.
        if hasattr(hint, "__value__"):
            yield from Hint(hint.__value__).leaves()
        elif isinstance(hint, type) and issubclass(hint, enum.Enum):
            yield from (str(member.value) for member in hint)
        elif typing.get_origin(hint) is typing.Literal or "Literal" in repr(typing.get_origin(hint)):
            yield from (str(word) for word in typing.get_args(hint))
        elif typing.get_origin(hint) is typing.Annotated:
            yield from Hint(typing.get_args(hint)[0]).leaves()
        elif typing.get_origin(hint) is dict:
            return
        elif typing.get_args(hint):
            for argument in typing.get_args(hint):
                yield from Hint(argument).leaves()
        elif members := members_of(hint):
            yield Record(hint, members)


def members_of(hint):
    """The members of a class that describes an object."""
    # Pydantic names a member by its alias.
    if fields := getattr(hint, "model_fields", None):
        return {field.alias or name: Hint(field.annotation) for name, field in fields.items()}
    if isinstance(hint, type) and hint.__module__ != "builtins" and getattr(hint, "__annotations__", None):
        return {name: Hint(held) for name, held in typing.get_type_hints(hint, include_extras=True).items()}
    return None


class Shape:
    """A type as botocore describes it."""

    def __init__(self, shapes, name):
        self.shapes = shapes
        self.name = name

    def leaves(self):
        shape = self.shapes[self.name]
        if shape["type"] == "structure":
            members = {name: Shape(self.shapes, held["shape"]) for name, held in shape["members"].items()}
            yield Record(self.name, members)
        elif shape["type"] == "list":
            yield from Shape(self.shapes, shape["member"]["shape"]).leaves()
        else:
            yield from shape.get("enum", [])


def load(place):
    """Finds `module:Name`, `module:Name.member`, or `botocore:service/version:Shape`."""
    module, name = place.split(":", 1)
    if module == "botocore":
        path, shape = name.split(":")
        return Shape(service(path)["shapes"], shape)
    name, *inner = name.split(".")
    found = Hint(getattr(importlib.import_module(module), name))
    for member in inner:
        (record,) = (leaf for leaf in found.leaves() if isinstance(leaf, Record))
        found = record.members[member]
    return found


def service(path):
    """The description of a service in botocore's data."""
    folder = importlib.import_module("botocore").__path__[0]
    with gzip.open(f"{folder}/data/{path}/service-2.json.gz") as file:
        return json.load(file)


class Reading:
    """The names of one dialect."""

    def __init__(self):
        self.names = set()
        self.seen = set()

    def read(self, entry):
        """Reads one type of the table."""
        inside = frozenset(entry.get("inside", ()))
        self.walk(load(entry["from"]), entry["kind"], entry.get("of"), inside, entry.get("each_member", False))

    def walk(self, found, kind, owner, inside, each_member):
        for leaf in found.leaves():
            if isinstance(leaf, str):
                self.names.add((kind, leaf))
            elif each_member:
                for name, held in leaf.members.items():
                    self.names.add((kind, name))
                    self.walk(only_records(held), kind, name, inside, False)
            elif (leaf.key, kind, owner) not in self.seen:
                self.seen.add((leaf.key, kind, owner))
                self.record(leaf, kind, owner, inside)

    def record(self, record, kind, owner, inside):
        tag, words = (None, []) if owner else record.tag()
        self.names.update((kind, word) for word in words)
        for name in words or [owner]:
            if name:
                self.names.update(("member", f"{name}.{member}") for member in record.members if member != tag)
        for member in inside & record.members.keys():
            held = only_records(record.members[member])
            # An object without a variant is named by its member, and what an item holds are blocks.
            is_tagged = any(leaf.tag()[1] for leaf in held.leaves())
            self.walk(held, "block" if kind == "item" else kind, None if is_tagged else member, inside, False)


def only_records(found):
    """A type without its words: the values of a member do not name a type."""
    leaves = [leaf for leaf in found.leaves() if isinstance(leaf, Record)]
    return types.SimpleNamespace(leaves=lambda: leaves)


def main():
    answers = []
    for dialect in json.load(sys.stdin):
        reading = Reading()
        for entry in dialect["types"]:
            reading.read(entry)
        names = [{"kind": kind, "name": name} for kind, name in sorted(reading.names)]
        answers.append({"dialect": dialect["name"], "package": version(dialect["package"]), "names": names})
    json.dump(answers, sys.stdout)


def version(package):
    """The name of a package with the version that is installed."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return package


if __name__ == "__main__":
    main()
