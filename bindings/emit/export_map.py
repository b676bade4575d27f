"""core/chordal.map: the linker's list of what libchordal exports."""

from .common import NOTICE


def emit(model):
    symbols = sorted(function["symbol"] for function in model["functions"] if function["header"] != "chordal/uv.h")
    lines = [f"/* {NOTICE} */", f"chordal_{model['abi']} {{", "global:"]
    lines += [f"    {symbol};" for symbol in symbols]
    return {"core/chordal.map": "\n".join(lines + ["local:", "    *;", "};", ""])}
