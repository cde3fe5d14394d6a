// Runs before the page is drawn, so that the chosen theme does not flash.
(() => {
  try {
    const chosen = localStorage.getItem("memorist-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // without storage, the system decides
  }
})();
