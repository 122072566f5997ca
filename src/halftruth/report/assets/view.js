// The page: what moves it, and what it shows then.

(() => {
  const CHARTS = { roc: rocChart, pr: prChart, reliability: reliabilityChart, distribution: distributionChart };
  const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

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
    write(at("outside"), outside ? "Noise, or a share of positives that is too high, carries figures beyond 0 or 1; curves are drawn at the edge." : "");
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
      const wrong = number.getAttribute("aria-invalid") === "true";
      const from = low < high / 50 ? "up" : figure(low);
      const text = wrong ? `must be ${figure(low)} to ${figure(high)}` : `not refuted: ${from} to ${figure(high)}`;
      write(at(`${name}-range`), text);
    }
    const moved = state.shares.some((shares) => shares.moved);
    at("answer").classList.toggle("past", moved);
    at("reset").disabled = !moved && state.threshold === firstThreshold();
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
    show(0);
  }

  at("csv").hidden = false;
  at("csv").addEventListener("click", download);
  if (drawn && models.length) start();
})();
