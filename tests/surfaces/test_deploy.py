"""The files in deploy/ name what exists: commands, options, ports, paths and settings."""

from __future__ import annotations

import json
import re
import shlex
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from memorist_server.rest.auth import HEALTH
from memorist_server.rest.server import Settings
from tests.surfaces.conftest import Cli

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PORT = str(Settings().port)


def steps() -> list[tuple[str, str]]:
    """The instructions of the Containerfile."""
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines if line and not line.startswith("#")]


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def unit() -> ConfigParser:
    parser = ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    parser.read(DEPLOY / "memorist.service")
    return parser


def known_options(cli: Cli) -> set[str]:
    return set(re.findall(r"--[a-z-]+", cli("serve", "--help").out))


def test_the_image_serves_as_nobody_in_particular_and_is_asked_for_its_health(bare: Cli) -> None:
    made = dict(steps())
    assert made["USER"] == "10001" and made["EXPOSE"] == PORT
    assert json.loads(made["ENTRYPOINT"]) == ["memorist"]
    verb, *options = json.loads(made["CMD"])
    assert verb == "serve"
    assert {option for option in options if option.startswith("--")} <= known_options(bare)
    asked = re.search(rf"127\.0\.0\.1:{PORT}(/\w+)", made["HEALTHCHECK"])
    assert asked is not None and asked[1] in HEALTH
    kinds = [name for name, _ in steps()]
    assert kinds.index("USER", kinds.index("FROM", 1)) < kinds.index("CMD")


def test_the_image_copies_what_is_there_and_installs_extras_that_exist() -> None:
    for name, rest in steps():
        if name == "COPY" and not rest.startswith("--from"):
            assert all((ROOT / part).exists() for part in rest.split()[:-1]), rest
    extras = set(re.findall(r"\[([a-z,]+)\]", " ".join(rest for name, rest in steps() if name == "RUN")))
    project = (ROOT / "pyproject.toml").read_text()
    assert extras == {"server,postgres,import"}
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in ("server", "postgres"))


def test_images_have_a_version_and_no_host() -> None:
    based = [rest.split()[0] for name, rest in steps() if name == "FROM"]
    images = [*based, *(service["image"] for service in compose()["services"].values())]
    for image in images:
        name, _, version = image.partition(":")
        assert version and version != "latest", image
        assert "." not in name.partition("/")[0], image


def test_the_compose_file_has_a_server_a_database_and_no_secret(bare: Cli) -> None:
    services = compose()["services"]
    server, database = services["server"], services["database"]
    verb, *options = server["command"]
    assert verb == "serve" and {option for option in options if option.startswith("--")} <= known_options(bare)
    assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).exists()
    assert server["ports"] == [f"127.0.0.1:${{MEMORIST_PORT:-{PORT}}}:{PORT}"]
    assert server["depends_on"]["database"]["condition"] == "service_healthy" and database["healthcheck"]["test"]
    assert database["environment"]["POSTGRES_PASSWORD"].startswith("${DATABASE_PASSWORD:?")
    assert server["environment"]["PGPASSWORD"] == database["environment"]["POSTGRES_PASSWORD"]
    used = {volume.partition(":")[0] for service in services.values() for volume in service["volumes"]}
    assert used == compose()["volumes"].keys()
    user, name = (database["environment"][variable] for variable in ("POSTGRES_USER", "POSTGRES_DB"))
    assert server["environment"]["MEMORIST_DB"] == f"postgresql://{user}@database/{name}"


@pytest.mark.parametrize(
    "line", ["NoNewPrivileges=yes", "ProtectSystem=strict", "User=memorist", "StateDirectory=memorist", "UMask=0077"]
)
def test_the_unit_is_hardened(line: str) -> None:
    name, _, value = line.partition("=")
    assert unit()["Service"][name] == value


def test_the_unit_starts_what_the_page_installs() -> None:
    program, verb, options = shlex.split(unit()["Service"]["ExecStart"])
    page = (ROOT / "docs" / "how-to" / "deploy.md").read_text()
    assert (verb, options) == ("serve", "$MEMORIST_OPTIONS")
    assert f"{program.removesuffix('/bin/memorist')}/bin/pip install" in page
    assert unit()["Service"]["EnvironmentFile"].removeprefix("-") in page


def test_the_options_on_the_page_exist(bare: Cli) -> None:
    page = (ROOT / "docs" / "how-to" / "deploy.md").read_text()
    given = re.search(r"MEMORIST_OPTIONS=(.*)", page)
    assert given is not None
    assert {part for part in given[1].split() if part.startswith("--")} <= known_options(bare)
