// The handles: each tells its day while it moves, and addresses hold days as people write them.
(() => {
  "use strict";
  const EPOCH = 719163; // the number of the day 1970-01-01
  const day = (slider) => (slider.value === slider.max ? "" : new Date((Number(slider.value) - EPOCH) * 86400000).toISOString().slice(0, 10));

  document.addEventListener("input", (event) => {
    if (!event.target.matches("[data-day]")) return;
    const told = day(event.target) || "now";
    event.target.closest("label").querySelector(".value").textContent = told;
    event.target.setAttribute("aria-valuetext", told);
  });

  document.addEventListener("htmx:configRequest", (event) => {
    for (const slider of document.querySelectorAll("[data-day]")) {
      if (day(slider)) event.detail.parameters[slider.name] = day(slider);
      else delete event.detail.parameters[slider.name];
    }
  });
})();
