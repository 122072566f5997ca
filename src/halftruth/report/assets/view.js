// The page: what moves it, and what it shows then.

(() => {
  const CHARTS = { roc: rocChart, pr: prChart, reliability: reliabilityChart, distribution: distributionChart };
  const REST = 50; // ms without a move, after which what takes longer is computed
  const CAUSE = models.some(({ status }) => status === "refuted")
    ? "what is refuted"
    : models.some(({ kind }) => kind === "reviewed")
    ? "noise, as a review may stand for many rows"
    : "noise, or a share of positives that is too high";
  const AXES = { fpr: "false-positive rate of the ROC curve", precision: "precision curve" };
  const RANDOM = "the known positives for a random sample of the positives";
  const LEAN = { any: "", rising: "known positives score too high, and ", falling: "known positives score too low, and " };
  const MOST_BIASED = 3;
  const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

  // --- Pictures.

  const plots = (movable.length ? metrics : []).filter(({ name }) => name !== "prevalence").map((metric) => {
    const parent = element(at("sensitivity"), "figure");
    const heading = element(parent, "h3");
    element(heading, "span", {}, metric.title ?? metric.label);
    return { metric, says: element(heading, "span"), svg: element(parent, "svg", { role: "img", tabindex: 0 }) };
  });

  function drawCharts() {
    const { shown } = state;
    const threshold = state.hover ?? state.threshold;
    const scene = { looks: [], shown, threshold, named: named(shown, threshold) };
    for (const i of able) scene.looks[i] = look(i);
    at("reliability").parentNode.hidden = !scene.looks[shown].bins;
    for (const [id, chart] of Object.entries(CHARTS)) {
      if (at(id).parentNode.hidden) continue;
      const line = at(id).nextElementSibling;
      chart(at(id), scene).forEach(([name, value], k) => {
        const says = line.children[k]?.lastChild ?? element(element(line, "span", {}, `${name} `), "b");
        write(says, typeof value === "string" ? value : figure(value));
      });
    }
  }

  function drawSensitivity() {
    const { shown } = state;
    const known = movable.every(linesOf);
    at("sensitivity").classList.toggle("waiting", !known);
    if (!known) return;
    for (const { metric, says, svg } of plots) {
      const { label } = metric;
      svg.parentNode.hidden = !metric.twin && isAway(shown);
      if (svg.parentNode.hidden) continue;
      const lines = movable.map((i) => ({ i, ...linesOf(i)[label] }));
      let [prior, value] = [state.shares[shown].prior, figuresOf(shown)[label]?.value];
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
    for (const i of able) entry(`line main m${i}`, models.length > 1 ? models[i].name : "corrected");
    const whose = models.length > 1 ? " (of the one shown)" : "";
    if (look(able[0]).naive) entry("naive", `naive: ${NAIVE[models[able[0]].kind]}${whose}`);
    entry("even", "chance");
  }

  // --- Words and controls.

  function showState() {
    const { prior, purity, selection, exact, moved } = state.shares[state.shown];
    const { name, shares } = models[state.shown];
    const { alpha } = look(state.shown).measure;
    const same = alpha === null || figure(alpha) === figure(prior);
    const among = same ? "" : ` (α = ${figure(alpha)} among the unlabeled)`;
    const here = `π = ${figure(prior)}${among}${purity < 1 ? ` and purity ${figure(purity)}` : ""}`;
    let text = shares.moves ? `As evaluated, at ${here}.` : "";
    if (shares.prior === null) {
      text = `The share of positives is not known. Charts are drawn at ${here}, the middle of what is not refuted.`;
    }
    if (moved) {
      const lacks = selection > 1 && exact ? "; calibration errors are without sampling error" : "";
      const beyond = `At ${here}; only intervals follow the bias, curves and thresholds do not.`;
      text = `${exact ? `At ${here}, taken as exact.` : beyond} An interval is – where it has no closed form${lacks}.`;
    }
    write(at("state"), (linked || !text ? "" : `${name}. `) + text);
  }

  /** What the numbers take the known positives for, and what follows where they are biased. */
  function showBias() {
    const { name, rule: { base }, selection: given } = models[state.shown];
    at("bias").hidden = !given;
    if (!given) return;
    const { selection } = state.shares[state.shown];
    const propensity = base === "value";
    let text = `These numbers take ${propensity ? "the propensities given as right" : RANDOM}.`;
    if (selection > 1) {
      const whom = propensity ? "as the propensities say" : "as the average one";
      const first = metrics.find(({ label }) => label === data.headline);
      const [noise, bias] = spreadOf(state.shown, first);
      const claim = `${first.title}${models.length > 1 ? ` of ${name}` : ""} lies between ${written(first, bias, " and ")}`;
      const wide = noise.includes(NaN) ? "" : ` (${written(first, noise, " to ")} with sampling error)`;
      text =
        `If ${LEAN[given.direction]}at some scores a positive is up to ${selection} times as likely to be known, ` +
        `or as unlikely, ${whom}, ${bias.includes(NaN) ? "intervals are as wide as here" : claim + wide}.`;
      const others = metrics.map((metric) => [metric, ...spreadOf(state.shown, metric)]).filter(
        ([, ends, alone]) => ends.includes(NaN) && !alone.includes(NaN),
      );
      const each = others.map(([metric, , alone]) => `${metric.title} ${written(metric, alone, " to ")}`);
      if (each.length) text += ` Without sampling error: ${each.join(", ")}.`;
    }
    write(at("bias-says"), text);
  }

  /** What is possible of two ends; null: not computed yet. */
  function written({ limits: [least, most] }, ends, and) {
    return ends.map((x) => (x === null ? "…" : figure(clip(x, least ?? -Infinity, most ?? Infinity)))).join(and);
  }

  /** One note for all that is shown and cannot be, by name: figures, rates at thresholds and curves. */
  function showOutside() {
    const beyond = ({ label, limits }) =>
      able.some((i) => {
        const { value, low, high } = figuresOf(i)[label] ?? {};
        return isBeyond(value, limits) && !reaches(low, high, limits);
      });
    const names = metrics.filter(beyond).map(({ title, label }) => title ?? label);
    const rates = topRates(state.shown).flatMap(([, each]) => each);
    if (rates.some((rate) => Math.abs(rate - clip(rate, 0, 1)) >= SHOWN)) names.push("rates at thresholds");
    const curves = [...new Set(able.flatMap((i) => look(i).outside))].map((axis) => `the ${AXES[axis]}`);
    const edge = curves.length ? " Curves are drawn at the edge there." : "";
    const all = [...names, ...curves].join(", ");
    write(at("outside"), all && `These lie beyond what is possible: ${all}. The cause is ${CAUSE}.${edge}`);
  }

  const ends = {
    prior: () => range(state.shown, state.shares[state.shown].purity),
    purity: () => {
      const noisy = movable.filter((i) => models[i].shares.noisy && (linked || i === state.shown));
      return [Math.max(...noisy.map((i) => models[i].shares.purity_low)), 1];
    },
    selection: () => [1, Math.max(MOST_BIASED, home(state.shown).selection)],
  };

  function showControls() {
    const { selection, shares: { moves, noisy } } = models[state.shown];
    const uses = { prior: moves, purity: moves && noisy && ends.purity()[0] < 1, selection: Boolean(selection) };
    for (const [name, used] of Object.entries(uses)) {
      at(`${name}-control`).hidden = !used;
      if (!used) continue;
      const [[low, high], number] = [ends[name](), at(`${name}-number`)];
      const { [name]: value, exact } = state.shares[state.shown];
      const given = !exact && name !== "selection";
      at(name).value = Math.round((1000 * (value - low)) / (high - low));
      at(name).setAttribute("aria-valuetext", figure(value));
      if (document.activeElement !== number) number.value = given ? Number(value.toPrecision(6)) : value;
      const wrong = number.getAttribute("aria-invalid") === "true";
      const from = low < high / 50 ? "up" : figure(low);
      const open = name === "selection" ? "1 is not at all" : `not refuted: ${from} to ${figure(high)}`;
      write(at(`${name}-range`), wrong ? `must be ${figure(low)} to ${figure(high)}` : open);
    }
    const moved = state.shares.some((shares) => shares.moved);
    at("answer").classList.toggle("past", moved);
    at("reset").disabled = !moved && state.threshold === firstThreshold();
  }

  function move(change) {
    const biased = "selection" in change;
    const follows = (i) => (biased ? models[i].selection : movable.includes(i)) && (linked || i === state.shown);
    for (const i of able.filter(follows)) {
      const next = { ...state.shares[i], ...change };
      // Where no prior was given, the one that charts are drawn at is taken.
      next.exact ||= !biased || models[i].shares.prior === null;
      if (!models[i].shares.noisy) next.purity = state.shares[i].purity;
      if (!biased) next.prior = clip(next.wish, ...range(i, next.purity));
      state.shares[i] = { ...next, moved: next.exact || next.selection !== home(i).selection };
    }
    refresh();
  }

  function wireControl(name, what) {
    const number = at(`${name}-number`);
    at(name).addEventListener("input", () => {
      const [low, high] = ends[name]();
      // As many digits as the field beside it shows.
      const value = Number((low + ((high - low) * at(name).value) / 1000).toPrecision(6));
      move({ [what]: clip(value, low, high) });
    });
    number.addEventListener("input", () => {
      const [low, high] = ends[name]();
      const inside = number.value >= low && number.value <= high;
      number.setAttribute("aria-invalid", !inside);
      if (inside) move({ [what]: Number(number.value) });
      else refresh();
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

  // --- Once a frame; intervals, and lines over the priors, once the hand rests.

  const TABLES = [showMetrics, showThresholds, showConfusion, showState, showBias, showOutside, showControls];
  let [asked, stale, resized, resting] = [false, true, true, 0];

  function draw() {
    // Widths are read before anything is written, so that the page is laid out once.
    if (resized) for (const svg of all("#live figure svg")) svg.wide = Math.max(svg.parentNode.clientWidth, 120);
    if (stale) {
      for (const show of TABLES) show();
      settle();
    }
    [asked, stale, resized] = [false, false, false];
    drawCharts();
    drawSensitivity();
  }

  /** Computes what is not known yet, one kind at a time, unless the page moves on before. */
  function settle() {
    const open = able.filter((i) => state.shares[i].moved && !intervalsOf(i));
    const compute = open.length ? computeIntervals : computeLines;
    const left = open.length ? open : movable.filter((i) => !linesOf(i));
    document.documentElement.dataset.settled = !left.length;
    clearTimeout(resting);
    if (!left.length) return;
    resting = setTimeout(() => {
      left.forEach(compute);
      refresh();
    }, REST);
  }

  function redraw() {
    if (!asked) requestAnimationFrame(draw);
    asked = true;
  }

  function refresh() {
    stale = true;
    document.documentElement.dataset.settled = false;
    redraw();
  }

  function pick(threshold) {
    state.threshold = threshold;
    refresh();
  }

  /** The one given; else as many are flagged as are positive. */
  function firstThreshold() {
    const { measure } = look(state.shown);
    return data.threshold ?? scoreOfTop(measure, home(state.shown).prior);
  }

  function show(i) {
    state.shown = i;
    resized = true;
    pick(firstThreshold());
  }

  function start() {
    at("live").hidden = false;
    const still = !movable.length && !able.some((i) => models[i].selection);
    at("controls").hidden = still && able.length === 1;
    at("reset").hidden = still;
    at("hangs").hidden = !movable.length;
    at("model-control").hidden = able.length === 1;
    for (const i of able) element(at("model"), "option", { value: i }, models[i].name);
    legend();
    addPictures();
    wireControl("prior", "wish");
    wireControl("purity", "purity");
    wireControl("selection", "selection");
    for (const id of Object.keys(CHARTS)) wireChart(at(id), thresholdAt, "hover", pick, at("threshold"));
    for (const { svg } of plots) wireChart(svg, priorAt, "prior", (wish) => move({ wish }), at("prior"));
    at("threshold").addEventListener("input", () => pick(look(state.shown).measure.score[at("threshold").value]));
    at("threshold-number").addEventListener("input", ({ target }) => target.value && pick(Number(target.value)));
    at("threshold-number").addEventListener("blur", refresh);
    at("model").addEventListener("change", () => show(Number(at("model").value)));
    at("controls").addEventListener("submit", (event) => event.preventDefault());
    at("reset").addEventListener("click", () => {
      state.shares = indices.map(home);
      pick(firstThreshold());
    });
    new ResizeObserver(() => {
      resized = true;
      redraw();
    }).observe(at("live"));
    movable.forEach(computeLines);
    show(able[0]);
  }

  at("csv").hidden = false;
  at("csv").addEventListener("click", download);
  if (able.length) start();
})();
