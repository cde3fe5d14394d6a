// Keyboard, theme, help and selection. Every page works without it.
(() => {
  "use strict";
  const find = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  function toggleTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("memorist-theme", root.dataset.theme);
    } catch {
      // without storage, the choice lasts for this page
    }
  }

  function toggleHelp() {
    const help = find("#help");
    if (help.open) help.close();
    else help.showModal();
  }

  // Lists: j and k move the focus over the links of all rows of the page.
  function move(by) {
    const links = all("[data-list] [data-open]");
    if (!links.length) return;
    const row = document.activeElement?.closest("[data-row]");
    const now = row ? links.indexOf(find("[data-open]", row)) : -1;
    const next = Math.min(Math.max(now + by, 0), links.length - 1);
    links[next].focus();
    links[next].closest("[data-row]").scrollIntoView({ block: "nearest" });
  }

  function select() {
    const row = document.activeElement?.closest("[data-row]");
    const box = row && find("input[type=checkbox]", row);
    if (box) box.click();
  }

  const boxes = () => all("[data-pick]");

  function count() {
    const told = find("[data-count]");
    if (!told) return;
    const chosen = boxes().filter((one) => one.checked).length;
    told.textContent = chosen ? `${chosen} selected` : "none selected";
    find("[data-several]").classList.toggle("active", chosen > 0);
    find("[data-apply]").disabled = !chosen;
    const every = find("[data-all]");
    every.checked = chosen > 0 && chosen === boxes().length;
    every.indeterminate = chosen > 0 && !every.checked;
  }

  const go = (selector) => find(selector)?.click();
  const keys = {
    "/": () => {
      const search = find("[data-search]");
      if (search) search.focus();
      else go('nav a[data-key="m"]');
    },
    j: () => move(1),
    k: () => move(-1),
    x: select,
    e: () => go("[data-edit]"),
    u: () => go("[data-up]"),
    t: toggleTheme,
    "?": toggleHelp,
  };

  let jumping = 0;
  const writing = (target) => target.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (writing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (Date.now() < jumping) {
      jumping = 0;
      const view = all("nav [data-key]").find((one) => one.dataset.key === event.key);
      if (view) {
        event.preventDefault();
        view.click();
      }
      return;
    }
    if (event.key === "g") jumping = Date.now() + 1500;
    else if (Object.hasOwn(keys, event.key) && (!find("#help").open || event.key === "?")) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  document.addEventListener("click", (event) => {
    const action = event.target.closest("[data-action]")?.dataset.action;
    if (action === "theme") toggleTheme();
    if (action === "help") toggleHelp();
  });

  // What takes long is sent once, and says that it runs.
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-busy]");
    if (!form) return;
    if (form.getAttribute("aria-busy")) event.preventDefault();
    form.setAttribute("aria-busy", "true");
    find("button", form).textContent = "Working…";
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) for (const box of boxes()) box.checked = event.target.checked;
    if (event.target.matches("[data-all], [data-pick]")) count();
  });

  document.addEventListener("htmx:configRequest", (event) => {
    // Addresses are shared: empty fields and defaults stay out of them.
    const given = event.detail.parameters;
    for (const name of Object.keys(given)) if (given[name] === "" || (name === "how" && given[name] === "words")) delete given[name];
  });
  document.addEventListener("htmx:responseError", (event) => location.assign(event.detail.pathInfo.finalRequestPath));
  document.addEventListener("htmx:afterSettle", count);
  find("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); // a phone shows some views at once
  count();
})();
