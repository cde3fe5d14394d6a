// Draws the graph that the table of the page lists. Labels are painted on the canvas, never made into markup.
(() => {
  "use strict";
  const box = document.querySelector("#picture");
  const reduced = matchMedia("(prefers-reduced-motion: reduce)");
  const KINDS = { person: "--accent", place: "--cool", organisation: "--warn" };
  const known = new Map();
  let colours = {}, picked = null, hovered = null, graph = null;

  // A canvas knows no variables: a hidden element resolves them, in light and in dark.
  function readColours() {
    const probe = document.createElement("span");
    probe.hidden = true;
    box.append(probe);
    colours = {};
    for (const name of ["--accent", "--cool", "--warn", "--bad", "--soft", "--ink", "--line-strong", "--surface"]) {
      probe.style.color = `var(${name})`;
      colours[name] = getComputedStyle(probe).color;
    }
    probe.remove();
  }

  const colourOf = (node) => colours[KINDS[node.kind] || "--soft"];
  const radius = (node) => (node.centre ? 7 : 4) + 5 * node.lit;

  function paintNode(node, ink, scale) {
    const size = radius(node);
    if (node.lit) {
      ink.beginPath();
      ink.arc(node.x, node.y, size + 4, 0, 2 * Math.PI);
      ink.globalAlpha = 0.15 + 0.35 * node.lit;
      ink.fillStyle = colours["--bad"];
      ink.fill();
      ink.globalAlpha = 1;
    }
    ink.beginPath();
    ink.arc(node.x, node.y, size, 0, 2 * Math.PI);
    ink.fillStyle = colourOf(node);
    ink.fill();
    if (node.centre || node === hovered) {
      ink.lineWidth = 2 / scale;
      ink.strokeStyle = colours["--ink"];
      ink.stroke();
    }
    if (scale < 0.7 && !node.centre && !node.lit && node !== hovered) return;
    const height = Math.max(12 / scale, 2);
    ink.font = `${node.centre ? 600 : 400} ${height}px system-ui, sans-serif`;
    ink.textAlign = "center";
    ink.textBaseline = "top";
    ink.lineWidth = 3 / scale;
    ink.strokeStyle = colours["--surface"];
    const below = node.y + size + (node.lit ? 4 : 0) + 2 / scale;
    ink.strokeText(node.label, node.x, below);
    ink.fillStyle = colours["--ink"];
    ink.fillText(node.label, node.x, below);
  }

  // Names that memories only mention together have a dashed line, without a label until it is pointed at.
  function paintLabel(link, ink, scale) {
    if ((scale < 1 || link.loose) && link !== picked && link !== hovered) return;
    const { source, target } = link;
    ink.font = `${10.5 / scale}px system-ui, sans-serif`;
    ink.textAlign = "center";
    ink.textBaseline = "middle";
    ink.lineWidth = 3 / scale;
    ink.strokeStyle = colours["--surface"];
    const x = (source.x + target.x) / 2, y = (source.y + target.y) / 2;
    ink.strokeText(link.label, x, y);
    ink.fillStyle = colours[link === picked ? "--ink" : "--soft"];
    ink.fillText(link.label, x, y);
  }

  function grow(node) {
    const address = new URL(location.href);
    if (node.centre) return;
    for (const name of ["q", "name"]) address.searchParams.delete(name);
    for (const one of data().nodes) if (one.centre) address.searchParams.append("name", one.id);
    address.searchParams.append("name", node.id);
    const path = address.pathname + address.search;
    const search = document.querySelector("[data-search]");
    if (search) search.value = "";
    htmx.ajax("GET", path, { target: "#around", select: "#around" }).then(() => history.pushState({}, "", path));
  }

  function choose(link) {
    picked = link;
    const row = document.getElementById(link.key);
    if (!row) return;
    for (const one of document.querySelectorAll(".relations tr.chosen")) one.classList.remove("chosen");
    row.classList.add("chosen");
    const details = row.querySelector("details");
    details.open = true;
    details.querySelector("summary").focus({ preventScroll: true });
    row.scrollIntoView({ block: "center", behavior: reduced.matches ? "auto" : "smooth" });
    history.replaceState(history.state, "", `#${link.key}`);
  }

  const data = () => JSON.parse(document.querySelector("#around").dataset.drawing);

  // Names keep their place when the picture grows.
  function draw() {
    const drawn = data();
    box.hidden = !drawn.links.length;
    if (box.hidden) return;
    const nodes = drawn.nodes.map((one) => Object.assign(known.get(one.id) || {}, one, { lit: 0 }));
    known.clear();
    for (const one of nodes) known.set(one.id, one);
    for (const one of drawn.links) {
      for (const end of [one.source, one.target]) known.get(end).lit = Math.max(known.get(end).lit, one.lit);
    }
    picked = drawn.links.find((one) => `#${one.key}` === location.hash) || null;
    if (!graph) start();
    size();
    graph.graphData({ nodes, links: drawn.links });
    fit = true;
    if (picked) choose(picked);
  }

  let fit = false;
  function start() {
    graph = new ForceGraph(box)
      .nodeLabel(() => "") // the library would make markup of it
      .linkLabel(() => "")
      .nodeCanvasObject(paintNode)
      .nodePointerAreaPaint((node, colour, ink) => {
        ink.fillStyle = colour;
        ink.beginPath();
        ink.arc(node.x, node.y, radius(node) + 4, 0, 2 * Math.PI);
        ink.fill();
      })
      .linkCanvasObjectMode(() => "after")
      .linkCanvasObject(paintLabel)
      .linkColor((link) => (link.lit ? colours["--bad"] : link === picked ? colours["--ink"] : colours["--line-strong"]))
      .linkWidth((link) => (link === picked ? 2.5 : 1) + 3 * link.lit)
      .linkLineDash((link) => (link.loose ? [3, 3] : null))
      .linkDirectionalArrowLength((link) => (link.loose ? 0 : 4))
      .linkDirectionalArrowRelPos(0.85)
      .onNodeClick(grow)
      .onLinkClick(choose)
      .onNodeHover((node) => (hovered = node))
      .onLinkHover((link) => (hovered = link))
      .warmupTicks(60)
      .cooldownTicks(reduced.matches ? 0 : 120)
      .maxZoom(6)
      .onEngineStop(() => {
        if (fit) graph.zoomToFit(reduced.matches ? 0 : 300, 52);
        fit = false;
      });
    box.graph = graph; // for the browser's console, and for the tests
    graph.d3Force("charge").strength(-160);
    graph.d3Force("link").distance(64);
  }

  function size() {
    graph.width(box.clientWidth).height(box.clientHeight);
  }

  function recolour() {
    readColours();
    if (graph) graph.linkWidth(graph.linkWidth()); // paints again
  }

  readColours();
  draw();
  addEventListener("resize", () => graph && size());
  new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  document.addEventListener("htmx:afterSettle", draw);
  addEventListener("popstate", () => location.reload());
})();
