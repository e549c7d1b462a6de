"""The stubs of the native half name what it has."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import seamline
from seamline import _native

STUBS = ast.parse((Path(seamline.__file__).parent / "_native.pyi").read_text())


def arguments(function: ast.FunctionDef) -> list[str]:
    return [one.arg for one in function.args.args if one.arg not in ("self", "cls")]


def parameters(value: object) -> list[str]:
    return [name for name in inspect.signature(value).parameters if name not in ("self", "cls")]


def test_functions_and_classes_have_stubs() -> None:
    stubs = {node.name for node in STUBS.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert stubs == {name for name in dir(_native) if not name.startswith("_")}


def test_functions_have_the_parameters_of_their_stubs() -> None:
    for node in STUBS.body:
        if isinstance(node, ast.FunctionDef):
            assert arguments(node) == parameters(getattr(_native, node.name)), node.name


def test_methods_have_the_parameters_of_their_stubs() -> None:
    for kind in STUBS.body:
        if not isinstance(kind, ast.ClassDef):
            continue
        native = getattr(_native, kind.name)
        methods = {node.name: node for node in kind.body if isinstance(node, ast.FunctionDef) and node.name != "__new__"}
        assert set(methods) == {name for name in vars(native) if not name.startswith("_")}, kind.name
        for name, node in methods.items():
            assert arguments(node) == parameters(getattr(native, name)), f"{kind.name}.{name}"


def test_the_package_exports_what_it_imports() -> None:
    assert len(set(seamline.__all__)) == len(seamline.__all__)
    assert all(hasattr(seamline, name) for name in seamline.__all__)
