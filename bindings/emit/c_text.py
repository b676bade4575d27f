"""C declarations written from the model."""

import re


def declare(type_name, name):
    """A declaration of `name`: "int (*)(void *)" takes it inside, "char[112]" before the brackets."""
    if "(*)" in type_name:
        return type_name.replace("(*)", f"(*{name})", 1)
    match = re.fullmatch(r"(.*?)\s*(\[.*\])", type_name)
    if match:
        return declare(match.group(1), name) + match.group(2)
    return type_name + name if type_name.endswith("*") else f"{type_name} {name}"


def result_type(function):
    result = function["result"]
    return f"{result['type']} *" if result["role"] == "handle" else result["type"]


def prototype(function):
    params = ", ".join(declare(param["type"], param["name"]) for param in function["params"]) or "void"
    return declare(result_type(function), function["name"]) + f"({params})"


def pointer_type(function):
    params = ", ".join(param["type"] for param in function["params"]) or "void"
    return declare(result_type(function), f"(*)({params})").replace("* (*)", "*(*)")
