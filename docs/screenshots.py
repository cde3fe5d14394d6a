"""Take the pictures of the inspector in README and docs, from the data of `memorist demo`.

Run by hand after `make test-browser` has installed Playwright: `python docs/screenshots.py`. To show another view, add
its line to `VIEWS`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, ViewportSize, sync_playwright

import memorist
from memorist.surfaces.cli.demo import play_all

PICTURES = Path(__file__).parent / "pictures"
VIEWS = {
    "overview": "overview",
    "memories": "memories?q=where+does+Alice+live&how=recall",
    "lab": "lab?q=Where+does+Alice+live%3F",
    "graph": "graph?name=Alice&hops=2&ask=Where+does+Alice+live",
}
"""Each picture, and the address of its view in the space of the demo."""
SPACE = "demo"
SIZE: ViewportSize = {"width": 1120, "height": 760}
MOST_BYTES = 150_000
CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
STILL = """() => {
    const picture = document.querySelector('#picture');
    return !document.querySelector('.htmx-request') && (!picture || picture.hidden || picture.graph);
}"""


def main() -> None:
    """Tell the story of the demo, look at it, and keep a picture of each view."""
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "demo.db"
        with memorist.open(file, space=SPACE, config={}) as engine:
            play_all(engine, quiet=True)
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            look(browser, file)
            browser.close()


def look(browser: Browser, file: Path) -> None:
    """Open the inspector as `memorist inspect` does, and take the pictures."""
    command = [sys.executable, "-m", "memorist", "inspect", str(file), "--no-open", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        entrance: str = json.loads(server.stdout.readline())["url"]
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        page.goto(entrance)
        for name, view in VIEWS.items():
            page.goto(f"{entrance.partition('/?')[0]}/inspect/{SPACE}/{view}")
            page.wait_for_load_state("networkidle")
            page.wait_for_function(STILL)
            picture = PICTURES / f"inspector-{name}.png"
            page.screenshot(path=picture)
            if picture.stat().st_size > MOST_BYTES:
                raise SystemExit(f"{picture} is larger than {MOST_BYTES:,} bytes")
        server.terminate()


if __name__ == "__main__":
    main()
