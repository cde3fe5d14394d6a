"""The commands that create, list and revoke keys."""

from __future__ import annotations

from pathlib import Path

from memorist_server.access.keys import KeyRing
from tests.surfaces.conftest import Cli


def test_the_command_line_makes_lists_and_revokes(cli: Cli, db: Path) -> None:
    made = cli(
        "keys", "create", "team-*", "--rights", "write", "--name", "CI", "--expires-at", "2999-01-01", "--json"
    ).data
    secret = made.pop("secret")
    assert (made["space"], made["rights"], made["expires_at"]) == ("team-*", "write", "2999-01-01T00:00:00Z")
    assert cli("keys", "list", "--json").data == [made]
    with KeyRing(db.parent / ".keys.db") as ring:
        assert ring.find(secret) is not None
        listed = cli("keys", "list")
        assert made["id"] in listed.out and "CI" in listed.out and secret not in listed.out
        assert cli("keys", "revoke", made["id"], "--json").data == {"revoked": made["id"]}
        assert ring.find(secret) is None
    assert cli("keys", "create", "ann").out.splitlines()[0].startswith("rk_")


def test_the_command_line_repeats_no_secret_that_was_given_as_an_id(cli: Cli) -> None:
    ran = cli("keys", "revoke", "rk_abc_very-secret")
    assert ran.status == 1
    assert ran.problem == "There is no such key to revoke. Look it up with `memorist keys list`."
    assert cli("keys", "create", "ann", "--rights", "root").problem.startswith("Unknown right 'root'.")
