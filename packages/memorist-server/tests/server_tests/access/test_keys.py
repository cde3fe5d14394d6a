"""Keys: what they open, how long, and that no secret is kept, in a file or in a table."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.engine.open import on_server
from memorist.errors import InvalidInput, StoreError
from memorist.testing.fakes import FakeClock
from memorist_server.access.home import key_ring, keys_file
from memorist_server.access.keys import RIGHTS, Key, KeyRing

NOW = datetime(2024, 6, 3, 12, tzinfo=UTC)
SPACES = st.from_regex(r"\A[a-z][a-z0-9.@_-]{0,8}\Z")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def ring(db: str, clock: FakeClock) -> Iterator[KeyRing]:
    with key_ring(db, clock=clock) as opened:
        yield opened


def traces(db: str) -> list[str]:
    """What the keys left in their place: files, or schemas."""
    if on_server(db):
        with psycopg.connect(db) as connection:
            return [
                name for (name,) in connection.execute("SELECT nspname FROM pg_namespace WHERE nspname = 'memorist'")
            ]
    return [path.name for path in Path(db).iterdir()] if Path(db).exists() else []


def key(space: str, rights: str = "read") -> Key:
    assert rights in RIGHTS
    return Key("k", "", space, rights, 3, NOW)  # pyright: ignore[reportArgumentType]


def test_a_secret_finds_its_key_and_nothing_else_does(ring: KeyRing) -> None:
    made, secret = ring.create(space="ann", rights="write", name="laptop", max_classification=1)
    other, another = ring.create(space="bob", rights="read")
    assert secret.startswith(f"rk_{made.id}_") and len(secret) > 50
    assert ring.find(secret) == made == Key(made.id, "laptop", "ann", "write", 1, NOW)
    assert ring.find(another) == other
    swapped = f"rk_{made.id}_{another.split('_', 2)[2]}"
    for wrong in ("", "rk", "rk__", made.id, secret[:-1], secret + "x", secret.upper(), swapped, "\udcff_\0_x"):
        assert ring.find(wrong) is None


def test_a_key_ends_when_it_expires_or_is_revoked(ring: KeyRing, clock: FakeClock) -> None:
    brief, secret = ring.create(space="ann", rights="read", expires_at=NOW + timedelta(hours=1))
    lasting, another = ring.create(space="ann", rights="read")
    clock.set(NOW + timedelta(hours=1))
    assert ring.find(secret) is None
    assert ring.find(another) == lasting
    assert ring.revoke(lasting.id)
    assert not ring.revoke(lasting.id) and not ring.revoke("nobody")
    assert ring.find(another) is None
    assert {key.id: key.revoked_at for key in ring.all()} == {brief.id: None, lasting.id: clock.now()}


def test_looking_makes_nothing_and_revoking_the_last_key_opens_no_door(ring: KeyRing, db: str) -> None:
    assert ring.empty and ring.all() == [] and ring.find("rk_a_b") is None and not ring.revoke("a")
    assert traces(db) == []
    made, _ = ring.create(space="ann", rights="read")
    ring.revoke(made.id)
    assert not ring.empty
    with key_ring(db) as another:
        assert not another.empty


def test_the_file_is_for_its_owner_and_holds_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "spaces" / ".keys.db"
    with KeyRing(file) as ring:
        _, secret = ring.create(space="ann", rights="admin")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    held = b"".join(path.read_bytes() for path in file.parent.iterdir())
    assert secret.encode() not in held and secret.split("_", 2)[2].encode() not in held


def test_the_table_holds_no_secret(database: str) -> None:
    with key_ring(database) as ring:
        _, secret = ring.create(space="ann", rights="admin", name="laptop")
    with psycopg.connect(database) as connection:
        (row,) = connection.execute("SELECT k::text FROM memorist.keys AS k").fetchall()
    held = secret.split("_", 2)[2]
    assert "laptop" in row[0] and held not in row[0] and held.encode().hex() not in row[0]


def test_a_key_made_by_another_process_counts_at_once(ring: KeyRing, db: str) -> None:
    assert ring.empty
    begin = "import sys; from memorist_server.access.home import key_ring\nwith key_ring(sys.argv[1]) as ring: "
    create = f"{begin}print(ring.create(space='ann', rights='read')[1])"
    ran = subprocess.run([sys.executable, "-c", create, db], capture_output=True, text=True, check=True)
    found = ring.find(ran.stdout.strip())
    assert found is not None and found.space == "ann"
    subprocess.run([sys.executable, "-c", f"{begin}assert ring.revoke('{found.id}')", db], check=True)
    assert ring.find(ran.stdout.strip()) is None


def test_many_may_make_keys_at_once(db: str) -> None:
    def make(number: int) -> str:
        with key_ring(db) as ring:
            return ring.create(space=f"s{number}", rights="read")[0].id

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(make, range(16)))
    with key_ring(db) as ring:
        assert {key.id for key in ring.all()} == made and len(made) == 16


@pytest.mark.parametrize(
    "wrong",
    [
        {"space": ""},
        {"space": "../ann"},
        {"space": "a*b"},
        {"space": "**"},
        {"rights": "root"},
        {"max_classification": 4},
        {"max_classification": -1},
        {"expires_at": "2024-06-03T12:00:00Z"},
        {"expires_at": "soon"},
        {"name": "x" * 101},
        {"name": "two\nlines"},
    ],
)
def test_a_key_that_makes_no_sense_is_refused(tmp_path: Path, clock: FakeClock, wrong: dict[str, object]) -> None:
    with KeyRing(tmp_path / ".keys.db", clock=clock) as ring, pytest.raises(InvalidInput):
        ring.create(**{"space": "ann", "rights": "read", **wrong})  # pyright: ignore[reportArgumentType]
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_holds_something_else_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, but long enough to be mistaken for the head of one" * 10)
    with pytest.raises(StoreError, match="is not a Memorist store"):
        KeyRing(tmp_path / "text").all()
    with pytest.raises(InvalidInput, match="is a folder"):
        KeyRing(tmp_path).all()


@given(space=SPACES, other=SPACES)
def test_a_key_opens_its_own_space_only(space: str, other: str) -> None:
    assert key(space).allows(space, "read")
    assert key(space).allows(other, "read") == (space == other)


@given(prefix=SPACES, rest=st.from_regex(r"\A[a-z0-9]{0,5}\Z"), other=SPACES)
def test_a_prefix_opens_all_that_begin_with_it(prefix: str, rest: str, other: str) -> None:
    assert key(f"{prefix}*").allows(prefix + rest, "read")
    assert key(f"{prefix}*").allows(other, "read") == (other[: len(prefix)] == prefix)
    assert key("*").allows(other, "read")


@given(space=SPACES, held=st.sampled_from(RIGHTS), asked=st.text() | st.sampled_from(RIGHTS))
def test_each_right_holds_those_before_it_and_an_unknown_one_is_never_held(space: str, held: str, asked: str) -> None:
    order = {"read": 0, "write": 1, "admin": 2}
    assert key(space, held).allows(space, asked) == (asked in order and order[asked] <= order[held])


@pytest.mark.parametrize(
    ("db", "folder"),
    [
        ("agent.db", "."),
        ("spaces/", "spaces"),
        ("spaces", "spaces"),
        ("sqlite:///spaces/", "spaces"),
        ("sqlite:////abs/agent.db", "/abs"),
    ],
)
def test_keys_lie_beside_the_spaces(db: str, folder: str) -> None:
    assert keys_file(db) == Path(folder) / ".keys.db"


def test_keys_stay_where_they_are_when_the_folder_comes_to_be(tmp_path: Path) -> None:
    before = keys_file(str(tmp_path / "spaces"))
    (tmp_path / "spaces").mkdir()
    assert keys_file(str(tmp_path / "spaces")) == before
    (tmp_path / "file").touch()
    assert keys_file(str(tmp_path / "file")) == tmp_path / ".keys.db"


def test_keys_for_what_is_no_file_lie_in_the_users_own_folder() -> None:
    own = Path(os.environ["XDG_DATA_HOME"], "memorist", ".keys.db")
    assert keys_file(":memory:") == keys_file(None) == own
