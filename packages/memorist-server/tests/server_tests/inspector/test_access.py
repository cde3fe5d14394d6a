"""Who may look, who may change, and what another site can do."""

from __future__ import annotations

import re

import httpx
import pytest

from memorist_server.access.home import key_ring
from memorist_server.inspector.access import HEADERS
from server_tests.inspector.browser import FORM, Form
from server_tests.inspector.conftest import HOME, STORY, Inspected, Inspecting

BY_A_LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.fixture
def locked(inspecting: Inspecting) -> Inspected:
    """An inspector with keys, whose spaces `agent` and `theirs` hold the story."""
    made = inspecting()
    for space in ("agent", "theirs"):
        made.memory(space).remember_many(STORY)
    made.key("*", "admin")
    return made


def test_without_keys_on_this_machine_nobody_logs_in(shared: Inspected) -> None:
    page = shared.browser().get("/")
    assert page.status == 200 and page.path == f"{HOME}/overview" and not page.has_form("/logout")


def test_once_there_is_a_key_every_page_leads_to_the_login_and_back(locked: Inspected) -> None:
    stranger = locked.browser()
    for path in ("/", HOME, f"{HOME}/memories?q=oslo", "/inspect/nowhere/overview"):
        assert stranger.get(path).path.startswith("/login"), path
    login = stranger.get(f"{HOME}/memories?q=oslo")
    assert "Ann" not in login.text
    page = stranger.send(login.form("/login"), key=locked.key())
    assert page.path == f"{HOME}/memories?q=oslo" and "Ann lives in Oslo." in page.text


def test_a_wrong_key_stays_outside(locked: Inspected) -> None:
    stranger = locked.browser()
    page = stranger.log_in("rk_000000000000_nothing")
    assert page.status == 403 and "unknown, revoked or expired" in page.text
    assert stranger.get(HOME).path.startswith("/login")


def test_the_cookie_holds_no_secret_and_is_kept_from_scripts_and_other_sites(locked: Inspected) -> None:
    browser, key = locked.browser(), locked.key()
    form = browser.get("/login").form("/login")
    browser.http.follow_redirects = False
    cookie = browser.send(form, key=key).response.headers["set-cookie"]
    assert key not in cookie and key.split("_", 2)[2] not in cookie
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Secure" not in cookie


def test_over_https_the_cookie_is_sent_over_https_only(locked: Inspected) -> None:
    browser = locked.browser()
    form = browser.get("/login").form("/login")
    browser.http.follow_redirects = False
    port = locked.server.url.rpartition(":")[2]
    page = browser.send(form, {"origin": f"https://127.0.0.1:{port}"}, key=locked.key())
    assert "Secure" in page.response.headers["set-cookie"]


@pytest.mark.parametrize("forged", ["owner", "visitor", "key"])
def test_a_forged_session_is_none(locked: Inspected, forged: str) -> None:
    secret = locked.key()
    holder = secret.split("_")[1] if forged == "key" else forged
    browser = locked.browser(secret)
    (name, known), *_ = browser.http.cookies.items()
    browser.http.cookies.set(name, f"{holder}.nonce.9999999999.{known.rpartition('.')[2]}", domain="127.0.0.1")
    assert browser.get(HOME).path.startswith("/login")


def test_a_revoked_key_is_out_at_once_and_a_logout_ends_the_session(locked: Inspected) -> None:
    secret = locked.key()
    first, second = locked.browser(secret), locked.browser(secret)
    assert first.send(first.get(HOME).form("/logout")).path == "/login"
    assert first.get(HOME).path.startswith("/login") and second.get(HOME).path == f"{HOME}/overview"
    with key_ring(locked.server.settings.db) as ring:
        ring.revoke(secret.split("_")[1])
    assert second.get(HOME).path.startswith("/login")


def test_a_read_key_sees_and_cannot_change(locked: Inspected) -> None:
    reader, writer = locked.browser(locked.key(rights="read")), locked.browser(locked.key())
    at = writer.get(f"{HOME}/memories").rows()[0]
    page = reader.get(at)
    assert page.status == 200 and [form.action for form in page.forms] == ["/logout"]
    form = writer.get(at).form("/do/pin")
    token = next(value for name, value in page.form("/logout").fields if name == "csrf")
    assert reader.send(form, csrf=token).status == 403 and reader.get(f"{at}/edit").status == 403
    assert "pinned" not in reader.get(at).text


def test_the_journal_and_undo_need_an_admin_key_as_over_rest(locked: Inspected) -> None:
    writer, admin = locked.browser(locked.key(rights="write")), locked.browser(locked.key())
    at = writer.get(f"{HOME}/memories").rows()[0]
    page = writer.send(writer.get(at).form("/do/pin"))
    assert "Pinned." in page.text and ">Journal</h2>" not in page.source and not page.has_form("/undo")
    assert ">Journal</h2>" in admin.get(at).source and admin.get(at).has_form("/undo")
    token = dict(page.form("/do/unpin").fields)["csrf"]
    assert writer.send(admin.get(at).form("/undo"), csrf=token).status == 403


def test_a_space_that_a_key_does_not_open_does_not_exist_for_it(locked: Inspected) -> None:
    browser = locked.browser(locked.key("agent"))
    theirs, nowhere = (browser.get(f"/inspect/{space}/memories") for space in ("theirs", "nowhere"))
    assert theirs.status == nowhere.status == 404
    assert theirs.source.replace("theirs", "") == nowhere.source.replace("nowhere", "")
    assert "theirs" not in browser.get("/?all=1").text and browser.get("/").path == f"{HOME}/overview"


def test_what_is_above_a_cap_shows_nowhere(locked: Inspected) -> None:
    everything, capped = locked.browser(locked.key()), locked.browser(locked.key(cap=2))
    vault = next(at for at in everything.get(f"{HOME}/memories?q=vault").rows())
    assert capped.get(vault).status == 404
    pages = ("overview", "memories", "memories?q=vault", "memories?q=vault&how=recall", "memories?ended=1")
    for page in pages:
        assert "vault" in everything.get(f"{HOME}/{page}").text and "class 3" in everything.get(f"{HOME}/{page}").text
        shown = capped.get(f"{HOME}/{page}").text.replace("vault", "", 1 if "q=vault" in page else 0)
        assert "vault" not in shown and "class 3" not in shown, page


def test_a_key_in_the_header_works_without_a_session(locked: Inspected) -> None:
    bearer = {"authorization": f"Bearer {locked.key()}"}
    with httpx.Client(base_url=locked.server.url, headers=bearer, verify=False) as http:
        assert "Ann lives in Oslo." in http.get(f"{HOME}/memories").text
        assert http.get(HOME, headers={"authorization": "Bearer rk_nobody"}).status_code == 401


def test_a_cookie_opens_the_inspector_and_nothing_of_rest(locked: Inspected) -> None:
    browser = locked.browser(locked.key())
    assert browser.http.get("/v1/spaces").status_code == 401
    assert browser.http.get("/docs").status_code == 401


def test_a_change_needs_the_token_of_its_own_session(shared: Inspected) -> None:
    mine, other = shared.browser(), shared.browser()
    at = shared.memory().remember("The kettle is red.").id
    form = mine.get(f"{HOME}/memories/{at}").form("/do/pin")
    foreign = dict(other.get(f"{HOME}/memories/{at}").form("/do/pin").fields)["csrf"]
    for token in ("", "nonsense", foreign, "\ud83d"):
        assert mine.send(form, csrf=token.encode("utf-8", "replace").decode()).status == 403
    assert mine.send(Form("post", form.action)).status == 403
    assert shared.memory().get(at).tier == "working"  # pyright: ignore[reportOptionalMemberAccess]
    token = {"x-csrf-token": dict(form.fields)["csrf"]}
    assert mine.send(Form("post", form.action), token).status == 200


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data; boundary=x"])
def test_no_other_body_than_a_form_is_read(shared: Inspected, kind: str) -> None:
    browser = shared.browser()
    token = dict(browser.get(f"{HOME}/memories").form("/change").fields)["csrf"]
    headers = {"content-type": kind, "x-csrf-token": token}
    assert browser.http.post(f"{HOME}/memories/change", content=b"{}", headers=headers).status_code == 415


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"host": "evil.example"}, BY_A_LINK],
)
def test_a_page_of_another_site_changes_nothing_even_with_the_token(shared: Inspected, headers: dict[str, str]) -> None:
    browser = shared.browser()
    form = browser.get(f"{HOME}/memories").form("/change")
    page = browser.send(form, headers, id="x", action="forget", confirmed="yes")
    assert page.status in (403, 421)


def test_a_link_on_another_site_gets_a_page_that_loads_itself_again(shared: Inspected) -> None:
    page = shared.browser().get(f"{HOME}/memories?q=oslo", **BY_A_LINK)
    assert page.status == 200 and 'http-equiv="refresh"' in page.source and "Ann" not in page.text
    assert "set-cookie" not in page.response.headers
    assert f"{HOME}/memories?q=oslo" in page.links
    framed = {**BY_A_LINK, "sec-fetch-dest": "iframe"}
    assert shared.browser().get(f"{HOME}/memories", **framed).status == 403


def test_rest_is_as_strict_as_without_an_inspector(shared: Inspected) -> None:
    http = shared.browser().http
    body = {"content": b"text=hello", "headers": {"content-type": FORM}}
    assert http.post("/v1/spaces/agent/memories", **body).status_code == 415  # pyright: ignore[reportArgumentType]
    assert http.get("/v1/spaces", headers=BY_A_LINK).status_code == 403


def test_every_page_forbids_scripts_and_frames_of_others(shared: Inspected) -> None:
    browser = shared.browser()
    paths = ("/", "/login", HOME, f"{HOME}/memories", f"{HOME}/nowhere", "/static/inspector.css", "/static/nothing")
    for path in paths:
        found = browser.http.get(path).headers
        assert {name: found.get(name) for name in HEADERS} == HEADERS, path
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy and "http" not in policy


def test_read_only_lets_nobody_change_anything(inspecting: Inspecting) -> None:
    writable = inspecting()
    kept = writable.memory().remember("The kettle is red.")
    made = inspecting(read_only=True)
    browser = made.browser()
    page = browser.get(f"{HOME}/memories/{kept.id}")
    assert "read-only" in page.text and page.forms == []
    form = writable.browser().get(f"{HOME}/memories/{kept.id}").form("/do/pin")
    login = browser.http.get(f"{HOME}/memories")
    assert login.status_code == 200 and browser.send(form).status == 403
    body = made.server.http().post("/v1/spaces/agent/memories", json={"text": "x"})
    assert body.status_code == 403 and body.json()["type"] == "urn:memorist:read-only"


def test_a_ticket_lets_one_browser_in_once_and_nobody_else(inspecting: Inspecting) -> None:
    made = inspecting(ticket="the-ticket")
    owner, other = made.browser(), made.browser()
    assert "private" in other.get("/").text and made.server.http().get("/v1/spaces").status_code == 401
    assert other.get("/?key=wrong").status == 403
    assert owner.get("/?key=the-ticket").status == 200 and owner.get("/?all=1").status == 200
    assert other.get("/?key=the-ticket").status == 403 and "used" in other.get("/?key=the-ticket").text
    assert other.get(HOME).path.startswith("/login")


def test_a_ticket_leads_to_a_page_of_ours_only(inspecting: Inspecting) -> None:
    for place, reached in (("/inspect/agent/lab?q=Who%3F", "/inspect/agent/lab?q=Who%3F"), ("//elsewhere.test/", "/")):
        made = inspecting(ticket="the-ticket")
        entered = made.browser().http.get("/", params={"key": "the-ticket", "next": place}, follow_redirects=False)
        assert (entered.status_code, entered.headers["location"]) == (303, reached)


def test_an_address_that_leads_nowhere_keeps_the_menu_of_a_space_that_may_be_seen(inspecting: Inspecting) -> None:
    made = inspecting()
    made.memory(key=made.key()).remember("The lamp is blue.")
    reader = made.browser(made.key(rights="read"))
    lost = reader.get(f"{HOME}/nowhere")
    assert lost.status == 404 and "There is no such page" in lost.text and f"{HOME}/memories" in lost.links
    assert "/inspect/other/memories" not in reader.get("/inspect/other/nowhere").links
    assert reader.get("/inspect/").status == 404


def test_what_nobody_expected_is_a_page_that_names_the_request_and_tells_nothing_else(
    inspecting: Inspecting, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = inspecting()
    made.memory().remember("The lamp is blue.")
    agent = made.browser()

    def broken(*_: object) -> object:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr("memorist_server.inspector.views.sessions.newest", broken)
    page = agent.get(f"{HOME}/sessions")
    assert page.status == 500 and "An unexpected error occurred" in page.text and "swordfish" not in page.source
    assert re.search("Find [0-9a-f]{32} in the server's log", page.text) and f"{HOME}/overview" in page.links
