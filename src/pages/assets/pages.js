// Draws plots, copies texts and keeps a button from being pressed twice. Everything here also works without it: plots are tables, texts can be marked, and what is sent twice is done once.
(() => {
  "use strict";
  const live = document.getElementById("live");
  const say = (text) => { live.textContent = ""; requestAnimationFrame(() => { live.textContent = text; }); };

  function draw(place) {
    if (!window.uPlot || place.firstChild) return;
    const { at, series, labels, bars, bands } = JSON.parse(place.dataset.plot);
    if (at.length === 0) return;
    // A single instant has no span of its own.
    if (at.length === 1) {
      at.unshift(at[0] - 3600);
      at.push(at[1] + 3600);
      series.forEach((figures) => { figures.unshift(null); figures.push(null); });
    }
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--soft"), grid: { stroke: color("--faint"), width: 1 }, ticks: { stroke: color("--faint") } };
    const colors = [color("--brand"), color("--focus"), color("--bad"), color("--test")];
    const lang = document.documentElement.lang === "en" ? "en-US" : "es-VE";
    const number = (value) => value === null || value === undefined ? "" : value.toLocaleString(lang, { maximumFractionDigits: 8 });
    // Ticks stand where the hours of Caracas begin, whatever zone the browser is in.
    const zone = "America/Caracas";
    const form = (parts) => new Intl.DateTimeFormat(lang, { timeZone: zone, hourCycle: "h23", ...parts });
    const day = form({ day: "numeric", month: "short" });
    const clock = form({ hour: "2-digit", minute: "2-digit" });
    const both = form({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
    const tick = (seconds, span) => {
      const hour = clock.format(seconds * 1000);
      return span >= 4 * 86400 || hour === "00:00" ? day.format(seconds * 1000) : hour;
    };
    const shade = (plot) => bands.forEach(([from, to]) => {
      const { left, top, width, height } = plot.bbox;
      const edge = (at) => Math.min(left + width, Math.max(left, plot.valToPos(at, "x", true)));
      plot.ctx.fillStyle = color("--test-tint");
      plot.ctx.fillRect(edge(from), top, edge(to) - edge(from), height);
    });
    const options = {
      width: place.clientWidth, height: 240,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
      hooks: { drawClear: [shade] },
      cursor: { drag: { x: false, y: false } },
      scales: {
        // Half an hour on either side: a single figure has a width, too.
        x: { range: (_, low, high) => [low - Math.max(1800, (high - low) / 50), high + Math.max(1800, (high - low) / 50)] },
        ...(bars ? { y: { range: (_, low, high) => [Math.min(0, low), Math.max(0, high) * 1.05 || 1] } } : {}),
      },
      axes: [{ ...axis, space: 70, values: (plot, ticks) => ticks.map((at) => tick(at, plot.scales.x.max - plot.scales.x.min)) }, { ...axis, size: 90, values: (_, ticks) => ticks.map(number) }],
      series: [{ label: labels[0], value: (_, at) => at === null ? "" : both.format(at * 1000) }, ...series.map((_, n) => ({
        label: labels[n + 1], stroke: colors[n % 4], width: 2, spanGaps: true, value: (_, value) => number(value),
        ...(bars ? { fill: colors[n % 4], paths: uPlot.paths.bars({ size: [0.6, 40] }) } : {}),
      }))],
    };
    const plot = new uPlot(options, [at, ...series], place);
    addEventListener("resize", () => plot.setSize({ width: place.clientWidth, height: 240 }));
  }

  function dress(part) {
    part.querySelectorAll("[data-plot]").forEach(draw);
    part.querySelectorAll("[data-copy]").forEach((button) => { button.hidden = !navigator.clipboard; });
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy || button.parentElement.querySelector("code").textContent);
    say(document.documentElement.lang === "en" ? "Copied" : "Copiado");
  });

  // What is typed into the filters of a list and not sent yet is asked for by a pill, too; its days are those of the pill.
  document.addEventListener("click", (event) => {
    const pill = event.target.closest(".pick a");
    if (!pill) return;
    const to = new URL(pill.href);
    pill.closest("[data-list]").querySelectorAll("form [data-field]").forEach(({ name, type, value, defaultValue, options }) => {
      const before = options ? [...options].find((option) => option.defaultSelected)?.value ?? "" : defaultValue;
      if (value !== before && !(type === "date" && pill.dataset.action === "days")) to.searchParams.set(name, value);
    });
    pill.href = to.href;
  });

  document.addEventListener("submit", (event) => {
    const buttons = event.target.querySelectorAll("button[type=submit]");
    // After the browser has taken the form, or the pressed button would not be sent.
    if (event.target.method === "post") setTimeout(() => buttons.forEach((button) => { button.disabled = true; }));
  });
  // A page that comes back from the browser's memory must not keep its buttons shut.
  addEventListener("pageshow", () => document.querySelectorAll("button:disabled").forEach((button) => { button.disabled = false; }));
  // Lists by keyboard: / looks for something, j and k go from row to row, Escape ends what was found while typing.
  const found = document.getElementById("found");
  const rows = () => [...document.querySelectorAll("[data-list] tbody tr a[href]:first-of-type")].filter((link, at, all) => at === all.findIndex((other) => other.closest("tr") === link.closest("tr")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && found) found.replaceChildren();
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById("q")?.focus();
    } else if (event.key === "j" || event.key === "k") {
      const links = rows();
      const at = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
      links[Math.min(links.length - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)))]?.focus();
    }
  });
  document.addEventListener("click", (event) => { if (found && !event.target.closest(".search")) found.replaceChildren(); });
  document.addEventListener("htmx:afterSettle", (event) => dress(event.target));
  dress(document);
  // On a telephone a row of links goes on beyond the screen: the one that is meant is shown.
  document.querySelectorAll(".lists [aria-current], .pick [aria-current]").forEach((link) => {
    const row = link.parentElement;
    row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
  });
  const error = document.querySelector("[role=alert]");
  if (error) say(error.textContent.trim());
})();
