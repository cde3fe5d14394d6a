"""The inspector: the pages that `memorist serve` and `memorist inspect` show to people.

To add a view NAME:

1. Write `views/NAME.py` with a `router` at `/inspect/{space}`, and add it and a `View` to `views/__init__.py`.
2. A handler takes `call: Reading` (`Changing` or `Administering` for a change), gets the capped engine in a thread with
   `await call.run(lambda engine: …)`, and returns `show(request, "NAME.html", view="NAME", …)`. State is in the query.
3. Write `templates/NAME.html`, which extends `base.html`. Write memory text as `{{ x | visible }}` or `{{ x | cut }}`
   inside `<bdi>` or `.text`, and a sentence of ours as `{{ x | prose }}`. Plain words for stages and signals are in
   `wording.py`. For a part that follows the user, give htmx the same address and `hx-select` that part.
4. A form posts `{{ m.csrf() }}`; `request.state.form` has its fields, and the token was checked before. Redirect with
   `back(call, place, entries)`, and the page tells what was done with `m.told(done, did)` and its undo.
5. Tests: `inspecting` and `agent` in `tests/server_tests/inspector/conftest.py` give browsers without scripts;
   `tests/browser` drives Chromium.
"""
