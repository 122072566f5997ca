// Tables, as they are shown and as a file. At home the cells are as Python wrote them.

const { addPictures, download, showConfusion, showMetrics, showThresholds, write } = (() => {
  const served = new Map(all("[data-cell]").map((cell) => [cell, cell.textContent]));
  const write = (cell, text) => cell.textContent !== text && (cell.textContent = text);

  /** What is possible of an interval. */
  function between({ low, high }, [least, most]) {
    if (low === undefined) return "…"; // not computed yet
    if (Number.isNaN(low + high)) return "–";
    if (isBeyond(low, [null, most]) || isBeyond(high, [least, null])) return "none possible";
    return `${figure(Math.max(low, least ?? -Infinity))} to ${figure(Math.min(high, most ?? Infinity))}`;
  }

  /** A value, cut where noise carried it too far, marked where it is impossible. */
  function marked({ value, low, high }, limits) {
    if (!isBeyond(value, limits)) return figure(value);
    if (!reaches(low, high, limits)) return `impossible: ${figure(value)}`;
    const cut = clip(value, limits[0] ?? -Infinity, limits[1] ?? Infinity);
    return figure(cut) + (Math.abs(value - cut) >= SHOWN ? ` (raw ${figure(value)})` : "");
  }
  const limitsOf = (wanted) => metrics.find(({ label }) => label === wanted).limits;

  function fill(row, moved, texts) {
    for (const cell of row.querySelectorAll("[data-cell]")) {
      write(cell, (moved && texts[cell.dataset.cell]) || served.get(cell) || "");
    }
  }

  function showMetrics() {
    for (const row of all("#metrics tr[data-metric]")) {
      const i = Number(row.dataset.model);
      const found = figuresOf(i)[row.dataset.metric];
      const limits = limitsOf(row.dataset.metric);
      fill(row, state.shares[i].moved, { value: marked(found, limits), interval: between(found, limits) });
      const picture = row.querySelector("svg");
      if (picture) strip(picture, i, found);
    }
    for (const row of all("#differences tr[data-pair]")) {
      const pair = row.dataset.pair.split("-").map(Number);
      const moved = pair.filter((i) => state.shares[i].moved).length;
      const [a, b] = pair.map((i) => figuresOf(i)[row.dataset.metric].value);
      // One alone that moved is no longer compared at one prior.
      fill(row, moved > 0, { value: figure(moved === 1 ? NaN : a - b), interval: "–", better: "–" });
    }
  }

  /** A column of pictures, for rows that lie between 0 and 1. */
  function addPictures() {
    const scale = element(element(all("#metrics thead tr")[0], "td", { class: "picture" }), "span");
    for (const end of ["0", "1"]) element(scale, "span", {}, end);
    for (const row of all("#metrics tr[data-metric]")) {
      const limits = limitsOf(row.dataset.metric);
      const cell = element(row, "td", { class: "picture" });
      if (limits[0] === 0 && limits[1] === 1) element(cell, "svg", { "aria-hidden": "true" });
    }
  }

  function showThresholds() {
    const body = all("#thresholds tbody")[0];
    const rows = topRates(state.shown);
    while (body.rows.length > rows.length) body.lastChild.remove();
    at("reviewed-above").hidden = rows[0][2] === null;
    rows.forEach(([threshold, rates, reviews], k) => {
      const row = body.rows[k] ?? element(body, "tr");
      if (!row.cells.length) {
        element(row, "th", { scope: "row" });
        for (const what of RATES) {
          element(row, "td", { "data-cell": what });
          if (what === "flagged" && reviews !== null) element(row, "td", { class: "reviews" });
        }
      }
      row.dataset.threshold = String(threshold);
      write(row.cells[0], named(state.shown, threshold));
      row.querySelectorAll("[data-cell]").forEach((cell, what) => write(cell, figure(rates[what])));
      for (const cell of row.querySelectorAll(".reviews")) write(cell, String(reviews));
    });
  }

  function showConfusion() {
    const { threshold } = state;
    const { measure } = look(state.shown);
    const { tp, fp, fn, tn, total } = confusion(measure, threshold);
    const texts = { net_benefit: figure(rateAt(measure, "net_benefit", threshold)) };
    for (const [what, mass] of Object.entries({ tp, fp, fn, tn })) {
      texts[what] = (Math.round((1e4 * mass) / total) / 10 + 0).toFixed(1);
    }
    fill(at("confusion"), true, texts);
    const text = named(state.shown, threshold);
    at("threshold").max = measure.score.length - 1;
    at("threshold").value = firstAt(measure.score, threshold);
    at("threshold").setAttribute("aria-valuetext", text);
    const number = at("threshold-number");
    if (document.activeElement !== number) number.value = text;
    at("benefit").hidden = !models[state.shown].bounded;
  }

  // --- The numbers of the page as a file, one a line.

  function csv() {
    const given = ["part", "model", "prior", "purity", "selection", "threshold"];
    const lines = [[...given, "quantity", "value", "low", "high", "naive", "status"]];
    models.forEach(({ name, status }, i) => {
      const drawn = able.includes(i);
      const { prior, purity, selection, exact, moved } = drawn ? state.shares[i] : {};
      if (moved) computeIntervals(i);
      // At another share only what lies in the range of the sliders can be chosen, and that is not refuted.
      const add = (part, threshold, quantity, value, low, high, naive) =>
        lines.push(
          [part, name, prior, purity, selection, threshold, quantity, value, low, high, naive, exact ? "ok" : status],
        );
      for (const [label, row] of Object.entries(figuresOf(i))) {
        add("metrics", "", label, row.value, row.low, row.high, row.naive);
      }
      if (!drawn) return;
      const { curve } = look(i);
      for (const [threshold, rates] of topRates(i)) {
        RATES.forEach((what, k) => add("thresholds", threshold, what, rates[k]));
      }
      for (const what of ["fpr", "recall", "precision"]) {
        curve[what].forEach((value, k) => add("curve", curve.threshold[k], what, value));
      }
    });
    return lines.map((line) => `${lines[0].map((_, k) => quoted(line[k])).join(",")}\r\n`).join("");
  }

  /** A cell; text that a spreadsheet would take for a formula is marked as text. */
  function quoted(cell) {
    if (typeof cell === "number") return Number.isNaN(cell) ? "" : String(cell);
    const text = /^[=+\-@\t\r]/.test(cell ?? "") ? `'${cell}` : cell ?? "";
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function download() {
    const address = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    const link = element(document.body, "a", { href: address, download: "halftruth.csv", hidden: "" });
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  return { addPictures, download, showConfusion, showMetrics, showThresholds, write };
})();
