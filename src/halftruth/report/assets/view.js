// The page: its state, what moves it, and what it shows then.

(() => {
  const at = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const data = JSON.parse(at("data").textContent);
  const { metrics, models } = data;

  const N_PRIORS = 21;
  const TOP = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7];
  const RATES = ["flagged", "precision", "recall", "fpr", "f1", "net_benefit"];
  const CHARTS = { roc: rocChart, pr: prChart, reliability: reliabilityChart, distribution: distributionChart };
  const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
  const indices = models.map((_, i) => i);
  const linked = data.kind !== "groups"; // models see one population, groups are one each
  const movable = indices.filter((i) => models[i].shares?.moves);

  // --- The state: the shares of each model, what is shown, and where a pointer stands.

  /** The priors that are not refuted, of one model or of all that see one population. */
  function range(i, purity) {
    const each = movable.filter((k) => linked || k === i).map((k) => priorRange(models[k], purity));
    return [Math.max(...each.map(([low]) => low)), Math.min(...each.map(([, high]) => high))];
  }

  function home(i) {
    const { prior, purity: given } = models[i].shares ?? {};
    const purity = given ?? 1;
    const [low, high] = range(i, purity);
    return { prior: prior ?? (low + high) / 2, purity, moved: false };
  }

  const state = { shares: indices.map(home), shown: 0, threshold: null, hover: null, prior: null };
  // Too many groups have no table; without any prior there is nothing to draw.
  const drawn = indices.every((i) => models[i].table && Number.isFinite(state.shares[i].prior));
  const cache = new Map();

  /** ``make()``, made again only where the key is another. */
  function kept(name, key, make) {
    if (cache.get(name)?.key !== key) cache.set(name, { key, value: make() });
    return cache.get(name).value;
  }

  function measureAt(i, prior, purity) {
    const { score, sums } = models[i].table;
    return measureOf(score, sums, rule(models[i], sums, prior, purity));
  }

  const curveOf = (measure) => ({ ...rocCurve(measure), ...prCurve(measure) });
  const valueOf = ({ name, parameters, twin }, measure) => (twin ? METRICS[name](measure, parameters) : NaN);

  /** What is known of a model at its shares. */
  function look(i) {
    const { prior, purity, moved } = state.shares[i];
    return kept(`look ${i}`, `${prior} ${purity} ${moved}`, () => {
      const measure = measureAt(i, prior, purity);
      const curve = curveOf(measure);
      return {
        prior, measure, curve,
        figures: moved ? figuresAt(i, measure) : models[i].home,
        naive: models[i].kind === "positive_unlabeled" ? naiveCurve(i) : null,
        bins: models[i].bounded ? reliability(measure) : null,
        outside: [curve.fpr, curve.precision].some((rates) => rates.some((x) => x < -0.005 || x > 1.005)),
      };
    });
  }

  function figuresAt(i, measure) {
    const { prior, purity } = state.shares[i];
    const errors = standardErrors(models[i], metrics, prior, purity, measure);
    const regular = unsigned(measure);
    return Object.fromEntries(metrics.map((metric) => {
      const value = valueOf(metric, measure);
      const [low, high] = interval(value, errors[metric.label], data.confidence_level, metric.limits, regular);
      return [metric.label, { naive: models[i].home[metric.label]?.naive, value, low, high }];
    }));
  }

  /** The curves of one who takes all but the known positives for negative. */
  function naiveCurve(i) {
    return kept(`naive ${i}`, "", () => {
      const { score, sums } = models[i].table;
      const terms = Object.keys(sums).map((stratum) => {
        const pos = stratum === "positive" ? 1 : 0;
        return { stratum, column: "weight", mass: 1, pos, neg: 1 - pos };
      });
      return curveOf(measureOf(score, sums, { terms, size: 1, alpha: null }));
    });
  }

  /** Each metric over the priors that are not refuted; what only Python computes, as it left it. */
  function linesOf(i) {
    const { purity } = state.shares[i];
    return kept(`lines ${i}`, purity, () => {
      const [low, high] = range(i, purity);
      const x = Array.from({ length: N_PRIORS }, (_, k) => low + ((high - low) * k) / (N_PRIORS - 1));
      const measures = x.map((prior) => measureAt(i, prior, purity));
      return Object.fromEntries(metrics.map((metric) => {
        const held = models[i].sensitivity?.[metric.label] ?? [];
        const line = metric.twin
          ? { x, y: measures.map((measure) => valueOf(metric, measure)) }
          : { x: held.map(([prior]) => prior), y: held.map(([, value]) => value ?? NaN) };
        return [metric.label, line];
      }));
    });
  }

  /** The highest score that at least such a share of the population reaches. */
  function scoreOfTop({ score, mass, total }, share) {
    let [above, k] = [0, score.length];
    while (k > 0 && above < share * total * (1 - 1e-12)) above += mass[--k];
    return score[Math.min(k, score.length - 1)];
  }

  const topScores = (measure) => [...new Set(TOP.map((share) => scoreOfTop(measure, share)))];

  function rateAt(measure, what, threshold) {
    if (what === "net_benefit" && !(threshold >= 0 && threshold < 1)) return NaN;
    return METRICS[what === "flagged" ? "predicted_positive_rate" : what](measure, { threshold });
  }

  // --- Tables. At home the cells are as Python wrote them.

  const served = new Map(all("[data-cell]").map((cell) => [cell, cell.textContent]));
  const write = (cell, text) => cell.textContent !== text && (cell.textContent = text);
  const between = ({ low, high }) => (Number.isNaN(low + high) ? "–" : `${figure(low)} to ${figure(high)}`);

  function fill(row, moved, texts) {
    for (const cell of row.querySelectorAll("[data-cell]")) {
      write(cell, (moved && texts[cell.dataset.cell]) || served.get(cell) || "");
    }
  }

  function showMetrics() {
    for (const row of all("#metrics tr[data-metric]")) {
      const i = Number(row.dataset.model);
      const found = look(i).figures[row.dataset.metric];
      fill(row, state.shares[i].moved, { value: figure(found.value), interval: between(found) });
      const picture = row.querySelector("svg");
      if (picture) strip(picture, i, found);
    }
    const moved = state.shares.some((shares) => shares.moved);
    for (const row of all("#differences tr[data-pair]")) {
      const [a, b] = row.dataset.pair.split("-").map((i) => look(Number(i)).figures[row.dataset.metric].value);
      fill(row, moved, { value: figure(a - b), interval: "–", better: "–" });
    }
  }

  /** A column of pictures, for rows that lie between 0 and 1. */
  function addPictures() {
    const scale = element(element(all("#metrics thead tr")[0], "td", { class: "picture" }), "span");
    for (const end of ["0", "1"]) element(scale, "span", {}, end);
    for (const row of all("#metrics tr[data-metric]")) {
      const { limits } = metrics.find(({ label }) => label === row.dataset.metric);
      const cell = element(row, "td", { class: "picture" });
      if (limits[0] === 0 && limits[1] === 1) element(cell, "svg", { "aria-hidden": "true" });
    }
  }

  function showThresholds() {
    const body = all("#thresholds tbody")[0];
    const { measure } = look(state.shown);
    const rows = topScores(measure);
    while (body.rows.length > rows.length) body.lastChild.remove();
    rows.forEach((threshold, k) => {
      const row = body.rows[k] ?? element(body, "tr");
      if (!row.cells.length) {
        element(row, "th", { scope: "row" });
        for (const what of RATES) element(row, "td", { "data-cell": what });
      }
      row.dataset.threshold = String(threshold);
      write(row.cells[0], short(threshold));
      const texts = RATES.map((what) => [what, figure(rateAt(measure, what, threshold))]);
      fill(row, true, Object.fromEntries(texts));
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
    const next = measure.score.findIndex((score) => score >= threshold);
    at("threshold").max = measure.score.length - 1;
    at("threshold").value = next < 0 ? measure.score.length - 1 : next;
    at("threshold").setAttribute("aria-valuetext", short(threshold));
    write(at("threshold-value"), short(threshold));
  }

  // --- Pictures.

  const plots = (movable.length ? metrics : []).filter(({ name }) => name !== "prevalence").map((metric) => {
    const parent = element(at("sensitivity"), "figure");
    const heading = element(parent, "h3");
    element(heading, "span", {}, metric.title ?? metric.label);
    return { metric, says: element(heading, "span"), svg: element(parent, "svg", { role: "img", tabindex: 0 }) };
  });

  function drawCharts() {
    const scene = { looks: indices.map(look), shown: state.shown, threshold: state.hover ?? state.threshold };
    at("reliability").parentNode.hidden = !scene.looks[state.shown].bins;
    for (const [id, chart] of Object.entries(CHARTS)) {
      if (at(id).parentNode.hidden) continue;
      const line = at(id).nextElementSibling;
      line.replaceChildren();
      for (const [name, value] of chart(at(id), scene)) {
        element(element(line, "span", {}, `${name} `), "b", {}, figure(value));
      }
    }
    const outside = scene.looks.some((each) => each.outside);
    write(at("outside"), outside ? "Where noise carries a curve beyond 0 or 1 it is drawn at the edge." : "");
  }

  function drawSensitivity() {
    const { shown } = state;
    for (const { metric, says, svg } of plots) {
      const { label } = metric;
      const lines = movable.map((i) => ({ i, ...linesOf(i)[label] }));
      let [prior, value] = [state.shares[shown].prior, look(shown).figures[label]?.value];
      if (!Number.isFinite(value)) value = valueOf(metric, look(shown).measure);
      const { x = [], y = [] } = lines.find(({ i }) => i === shown) ?? {};
      if (state.prior !== null && x.length) [prior, value] = [x, y].map((each) => each[nearest(x, state.prior)]);
      const naive = models[shown].home[label]?.naive ?? NaN;
      sensitivityChart(svg, { title: metric.title ?? label, lines, naive, shown, prior, value });
      write(says, `${figure(value)} at ${figure(prior)}`);
    }
  }

  function legend() {
    const entry = (kind, text) => {
      const item = element(at("legend"), "li");
      const picture = element(item, "svg", { width: 28, height: 10, "aria-hidden": "true" });
      element(picture, "path", { class: kind, d: "M0 5H28" });
      element(item, "span", {}, text);
    };
    for (const i of indices) entry(`line main m${i}`, models.length > 1 ? models[i].name : "corrected");
    const whose = models.length > 1 ? " (of the one shown)" : "";
    if (look(0).naive) entry("naive", `naive: unlabeled taken for negative${whose}`);
    entry("even", "chance");
  }

  // --- Words and controls.

  function showState() {
    const { prior, purity, moved } = state.shares[state.shown];
    const { name, shares } = models[state.shown];
    const { alpha } = look(state.shown).measure;
    const same = alpha === null || figure(alpha) === figure(prior);
    const among = same ? "" : ` (α = ${figure(alpha)} among the unlabeled)`;
    const here = `π = ${figure(prior)}${among}${purity < 1 ? ` and purity ${figure(purity)}` : ""}`;
    let text = shares.moves ? `As evaluated, at ${here}.` : "";
    if (shares.prior === null) {
      text = `The share of positives is not known. Charts are drawn at ${here}, the middle of what is not refuted.`;
    }
    if (moved) text = `At ${here}, taken as exact. An interval is – where it has no closed form.`;
    write(at("state"), (linked || !text ? "" : `${name}. `) + text);
  }

  const ends = {
    prior: () => range(state.shown, state.shares[state.shown].purity),
    purity: () => {
      const noisy = models.filter(({ shares }, i) => shares.noisy && (linked || i === state.shown));
      return [Math.max(...noisy.map(({ shares }) => Math.max(1 - shares.kappa, 0.5) + 0.01)), 1];
    },
  };

  function showControls() {
    const { moves, noisy } = models[state.shown].shares;
    for (const [name, used] of Object.entries({ prior: moves, purity: moves && noisy })) {
      at(`${name}-control`).hidden = !used;
      if (!used) continue;
      const [[low, high], number] = [ends[name](), at(`${name}-number`)];
      const { [name]: value, moved } = state.shares[state.shown];
      at(name).value = Math.round((1000 * (value - low)) / (high - low));
      at(name).setAttribute("aria-valuetext", figure(value));
      if (document.activeElement !== number) number.value = moved ? value : Number(value.toPrecision(6));
      const from = low < high / 50 ? "up" : figure(low);
      if (name === "prior") write(at("range"), `not refuted: ${from} to ${figure(high)}`);
    }
    at("reset").disabled = !state.shares.some(({ moved }) => moved);
  }

  function move(change) {
    for (const i of movable.filter((k) => linked || k === state.shown)) {
      const next = { ...state.shares[i], ...change, moved: true };
      state.shares[i] = { ...next, prior: clip(next.prior, ...range(i, next.purity)) };
    }
    refresh();
  }

  function wireControl(name) {
    const number = at(`${name}-number`);
    at(name).addEventListener("input", () => {
      const [low, high] = ends[name]();
      // As many digits as the field beside it shows.
      const value = Number((low + ((high - low) * at(name).value) / 1000).toPrecision(6));
      move({ [name]: clip(value, low, high) });
    });
    number.addEventListener("input", () => {
      const [low, high] = ends[name]();
      const inside = number.value >= low && number.value <= high;
      number.setAttribute("aria-invalid", !inside);
      if (inside) move({ [name]: Number(number.value) });
    });
    number.addEventListener("blur", () => {
      number.removeAttribute("aria-invalid");
      refresh();
    });
  }

  function position(svg, { clientX, clientY }) {
    const { left, top, width } = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / width;
    return [(clientX - left) * scale, (clientY - top) * scale];
  }

  /** The threshold that a point of a chart stands for. */
  function thresholdAt(svg, event) {
    const { measure: { score }, curve } = look(state.shown);
    const [x, y] = position(svg, event);
    const { X, Y, valueAt } = svg.scales;
    const [xs, ys] = { roc: [curve.fpr, curve.tpr], pr: [curve.recall, curve.precision] }[svg.id] ?? [];
    if (!xs) return score[nearest(score, valueAt(x))];
    return curve.threshold[nearest(xs.map((v, k) => (k ? Math.hypot(X(v) - x, Y(ys[k]) - y) : Infinity)), 0)];
  }

  function priorAt(svg, event) {
    return clip(svg.scales.valueAt(position(svg, event)[0]), ...ends.prior());
  }

  /** A pointer reads a chart, a click chooses what it reads, and keys move the slider that goes with it. */
  function wireChart(svg, read, hover, choose, slider) {
    const stand = (value) => {
      state[hover] = value;
      redraw();
    };
    svg.addEventListener("pointermove", (event) => stand(read(svg, event)));
    svg.addEventListener("pointerleave", () => stand(null));
    svg.addEventListener("click", (event) => choose(read(svg, event)));
    svg.addEventListener("keydown", (event) => {
      if (!STEPS[event.key]) return;
      event.preventDefault();
      slider.value = Number(slider.value) + STEPS[event.key] * Math.ceil(slider.max / 100);
      slider.dispatchEvent(new Event("input"));
    });
  }

  // --- The numbers of the page as a file, one a line.

  function csv() {
    const lines = [["part", "model", "prior", "purity", "threshold", "quantity", "value", "low", "high", "naive"]];
    models.forEach(({ name, home: figures }, i) => {
      const { prior, purity } = drawn ? state.shares[i] : {};
      const add = (part, ...rest) => lines.push([part, name, prior, purity, ...rest]);
      for (const [label, row] of Object.entries(drawn ? look(i).figures : figures)) {
        add("metrics", "", label, row.value, row.low, row.high, row.naive);
      }
      if (!drawn) return;
      const { measure, curve } = look(i);
      for (const t of topScores(measure)) {
        for (const what of RATES) add("thresholds", t, what, rateAt(measure, what, t));
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

  // --- Once a frame.

  let [asked, stale, resized] = [false, true, true];

  function draw() {
    // Widths are read before anything is written, so that the page is laid out once.
    if (resized) for (const svg of all("#live figure svg")) svg.wide = Math.max(svg.parentNode.clientWidth, 120);
    if (stale) for (const show of [showMetrics, showThresholds, showConfusion, showState, showControls]) show();
    [asked, stale, resized] = [false, false, false];
    drawCharts();
    drawSensitivity();
  }

  function redraw() {
    if (!asked) requestAnimationFrame(draw);
    asked = true;
  }

  function refresh() {
    stale = true;
    redraw();
  }

  function pick(threshold) {
    state.threshold = threshold;
    refresh();
  }

  /** Where no threshold was given: as many flagged as are positive. */
  function show(i) {
    state.shown = i;
    resized = true;
    pick(data.threshold ?? scoreOfTop(look(i).measure, look(i).prior));
  }

  function start() {
    at("live").hidden = false;
    at("controls").hidden = !movable.length && models.length === 1;
    at("hangs").hidden = at("reset").hidden = !movable.length;
    at("model-control").hidden = models.length === 1;
    for (const i of indices) element(at("model"), "option", { value: i }, models[i].name);
    legend();
    addPictures();
    for (const name of ["prior", "purity"]) wireControl(name);
    for (const id of Object.keys(CHARTS)) wireChart(at(id), thresholdAt, "hover", pick, at("threshold"));
    for (const { svg } of plots) wireChart(svg, priorAt, "prior", (prior) => move({ prior }), at("prior"));
    at("threshold").addEventListener("input", () => pick(look(state.shown).measure.score[at("threshold").value]));
    at("model").addEventListener("change", () => show(Number(at("model").value)));
    at("controls").addEventListener("submit", (event) => event.preventDefault());
    at("reset").addEventListener("click", () => {
      state.shares = indices.map(home);
      refresh();
    });
    new ResizeObserver(() => {
      resized = true;
      redraw();
    }).observe(at("live"));
    show(0);
  }

  at("csv").hidden = false;
  at("csv").addEventListener("click", download);
  if (drawn && models.length) start();
})();
