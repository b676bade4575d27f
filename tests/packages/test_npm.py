"""The npm package, in a clean folder, runs the README's JavaScript program."""

import json
import tarfile

from package import built, readme_program, run


def test_install(tmp_path):
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    run("npm", "install", "--no-audit", "--no-fund", built("*.tgz"), folder=tmp_path)
    (tmp_path / "program.mjs").write_text(readme_program("js"))
    run("node", "program.mjs", folder=tmp_path)
    (tmp_path / "versions.mjs").write_text(
        "import { versions } from 'chordal'; console.log(JSON.stringify(versions()))"
    )
    versions = json.loads(run("node", "versions.mjs", folder=tmp_path))
    assert versions["sqlite"].startswith("3.54.") and versions["zlib"] == "1.3.1"


def test_content():
    with tarfile.open(built("*.tgz")) as package:
        names = package.getnames()
        manifest = json.load(package.extractfile("package/package.json"))
    assert "package/README.md" in names
    assert not [name for name in names if "/tests/" in name or name.endswith((".c", ".h", ".cc"))]
    assert not {"preinstall", "install", "postinstall"} & set(manifest.get("scripts", {}))


def test_exports_nothing_private(tmp_path):
    with tarfile.open(built("*.tgz")) as package:
        package.extract("package/node/build/chordal.node", tmp_path)
    listed = run("nm", "-D", "--defined-only", "package/node/build/chordal.node", folder=tmp_path)
    names = {line.split()[-1] for line in listed.splitlines()}
    assert names <= {"napi_register_module_v1", "node_api_module_get_api_version_v1"}
