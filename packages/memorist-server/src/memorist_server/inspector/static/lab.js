// The lab: a slider tells its number, addresses hold only what differs from the usual, and TOML is copied.
(() => {
  "use strict";
  document.addEventListener("input", (event) => {
    const dial = event.target.closest("label.dial");
    if (!dial) return;
    dial.querySelector(".value").textContent = String(Number(event.target.value));
    dial.classList.toggle("moved", Number(event.target.value) !== Number(event.target.dataset.usual));
  });

  document.addEventListener("htmx:configRequest", (event) => {
    const given = event.detail.parameters;
    for (const dial of document.querySelectorAll("input[data-usual]"))
      if (Number(dial.value) === Number(dial.dataset.usual)) delete given[dial.name];
    if (given.limit === "10") delete given.limit;
  });

  // Where the explanation stands below the list, choosing an item leads to it.
  document.addEventListener("htmx:afterSettle", (event) => {
    const why = event.detail.requestConfig?.elt.closest?.(".ranking") && document.querySelector("#why");
    const place = why && why.getBoundingClientRect();
    if (place && (place.top < 0 || place.bottom > innerHeight)) why.scrollIntoView();
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = document.querySelector(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(document.querySelector(button.dataset.copy));
      button.textContent = "Selected: press Ctrl-C";
    }
  });
})();
