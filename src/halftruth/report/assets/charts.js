// Pictures in SVG, drawn again in place. Whatever comes from data is set as text or as an attribute.
//
// A scene is { looks, shown, threshold, named }: what is known of each model (a hole where that is nothing), which of
// them is meant, and where the cursor stands, also in words. A chart returns what it says there, as names and values.

const {
  distributionChart, element, nearest, prChart, reliabilityChart, rocChart, sensitivityChart, strip,
} = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const UNIT = [0, 1];
  const BINS = 40;

  /** A new child with attributes and text; SVG and what lies in it has a namespace of its own. */
  function element(parent, name, attributes = {}, text = "") {
    const drawn = name === "svg" || parent.namespaceURI === SVG;
    const item = drawn ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) item.setAttribute(key, value);
    if (text) item.textContent = text;
    return parent.appendChild(item);
  }

  /** Puts parts by key: what is there is changed, and what was not put again goes when it is done. */
  function pen(svg, width, height) {
    const kept = (svg.kept ??= new Map());
    const used = new Set();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const put = (key, name, attributes, text = "") => {
      if (!kept.has(key)) kept.set(key, { item: element(svg, name), was: {} });
      used.add(key);
      const { item, was } = kept.get(key);
      for (const [attribute, value] of Object.entries({ ...attributes, text })) {
        if (was[attribute] === value) continue;
        was[attribute] = value;
        if (attribute === "text") item.textContent = value;
        else item.setAttribute(attribute, value);
      }
    };
    const done = (label) => {
      for (const [key, { item }] of kept) {
        if (used.has(key)) continue;
        item.remove();
        kept.delete(key);
      }
      if (label) svg.setAttribute("aria-label", label);
    };
    return { put, done };
  }

  const tenth = (x) => Math.round(x * 10) / 10;

  /** Index of the value that is nearest. */
  function nearest(values, wanted) {
    return values.reduce((best, v, k) => (Math.abs(v - wanted) < Math.abs(values[best] - wanted) ? k : best), 0);
  }

  /** Round numbers that part a range into about n. */
  function ticks([low, high], n) {
    const rough = (high - low) / n;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find((x) => x * unit >= rough * 0.999);
    const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
    return Array.from({ length: last - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(14)));
  }

  /** A path through points in pixels: what moves it by less than one is left out, corners stay. */
  function path(xs, ys, X, Y) {
    let [out, x0, y0, a, b, skipped] = ["", NaN, NaN, NaN, NaN, -1];
    for (let i = 0; i < xs.length; i++) {
      const x = X(xs[i]);
      const y = Y(ys[i]);
      if (!Number.isFinite(x + y)) x0 = NaN;
      else if (Math.abs(x - x0) < 0.8 && Math.abs(y - y0) < 0.8 && i < xs.length - 1) {
        a = x;
        b = y;
        skipped = i;
      } else {
        const corner = skipped === i - 1 && Math.abs((a - x0) * (y - b) - (b - y0) * (x - a)) > 0.5;
        if (corner) out += `L${tenth(a)} ${tenth(b)}`;
        out += `${Number.isNaN(x0) ? "M" : "L"}${tenth(x)} ${tenth(y)}`;
        x0 = x;
        y0 = y;
      }
    }
    return out;
  }

  /** A pen with scales and axes, for a width known beforehand. Values outside are drawn just beyond the ends. */
  function framed(svg, { x, y, xLabel = "", yLabel = "", height = 0.76, parts = 5, name = String }) {
    const [width, tall] = [svg.wide, Math.round(svg.wide * height)];
    const { put, done } = pen(svg, width, tall);
    const [left, right, top, bottom] = [38, width - 6, yLabel ? 26 : 10, tall - (xLabel ? 38 : 20)];
    const along = ([low, high], from, to) => (v) =>
      from + clip((v - low) / (high - low), -0.03, 1.03) * (to - from);
    const [X, Y] = [along(x, left, right), along(y, bottom, top)];
    ticks(y, parts).forEach((v, k) => {
      put(`grid ${k}`, "path", { class: "grid", d: `M${left} ${tenth(Y(v))}H${right}` });
      put(`up ${k}`, "text", { x: left - 7, y: tenth(Y(v)) + 4, "text-anchor": "end" }, name(v));
    });
    const room = (all) => all.length * (16 + 7 * Math.max(...all.map((v) => String(v).length)));
    const across = [parts, 3, 2, 1].map((n) => ticks(x, n)).find((all) => room(all) < right - left) ?? [];
    across.forEach((v, k) => {
      put(`tick ${k}`, "path", { class: "axis", d: `M${tenth(X(v))} ${bottom}v4` });
      put(`across ${k}`, "text", { x: tenth(X(v)), y: bottom + 17, "text-anchor": "middle" }, String(v));
    });
    put("axis", "path", { class: "axis", d: `M${left} ${bottom}H${right}` });
    put("x", "text", { x: right, y: tall - 3, "text-anchor": "end" }, xLabel);
    put("y", "text", { x: 0, y: 12 }, yLabel);
    const mark = (at, value, i) => {
      const known = Number.isFinite(at);
      const place = known && Number.isFinite(value) ? { cx: tenth(X(at)), cy: tenth(Y(value)), r: 4.5 } : { r: 0 };
      put("rule", "path", { class: "cursor", d: known ? `M${tenth(X(at))} ${top}V${bottom}` : "" });
      put("dot", "circle", { class: `dot m${i}`, ...place });
    };
    const frame = [width, ...x, ...y].join(" ");
    const paths = (svg.paths ??= new Map());
    const line = (key, kind, xs, ys) => {
      const was = paths.get(key);
      const same = was && was.xs === xs && was.ys === ys && was.frame === frame;
      if (!same) paths.set(key, { xs, ys, frame, d: path(xs, ys, X, Y) });
      put(`line ${key}`, "path", { class: kind, d: paths.get(key).d });
    };
    // For a pointer: where values are drawn, and which value is drawn there.
    svg.scales = { X, Y, valueAt: (px) => x[0] + ((px - left) / (right - left)) * (x[1] - x[0]) };
    return { put, done, X, Y, mark, line, left, right, tall };
  }

  const kindOf = (i, shown) => `line m${i}${i === shown ? " main" : ""}`;

  /** Lines on one pair of axes: { key, kind, x, y } each, a rule and a ring at the cursor [x, y, model]. */
  function lineChart(svg, { lines, cursor, label, ...axes }) {
    const { done, mark, line } = framed(svg, axes);
    for (const { key, kind, x, y } of lines) line(key, kind, x, y);
    mark(...cursor);
    done(label);
  }

  /** A curve over the threshold of each model, with the naive one of the model shown and what chance gives. */
  function curveChart(svg, scene, [x, xLabel, xName], [y, yLabel, yName], chance) {
    const { looks, shown, threshold, named } = scene;
    const { curve, naive } = looks[shown];
    const at = Math.max(curve.threshold.findLastIndex((t) => t >= threshold), 0);
    const lines = [{ key: "chance", kind: "even", x: UNIT, y: chance }];
    if (naive) lines.push({ key: "naive", kind: "naive", x: naive[x], y: naive[y] });
    looks.forEach((look, i) => lines.push({ key: i, kind: kindOf(i, shown), x: look.curve[x], y: look.curve[y] }));
    const across = curve[x][at];
    const up = Number.isFinite(across) ? curve[y][at] : NaN; // a point that is not drawn says nothing
    const label = `${yLabel} over ${xLabel}: at threshold ${named} ${figure(up)} over ${figure(across)}`;
    lineChart(svg, { x: UNIT, y: UNIT, xLabel, yLabel, lines, cursor: [across, up, shown], label });
    return [["threshold", named], [xName, across], [yName, up]];
  }

  function rocChart(svg, scene) {
    const [x, y] = [["fpr", "false-positive rate", "FPR"], ["tpr", "true-positive rate", "TPR"]];
    return curveChart(svg, scene, x, y, UNIT);
  }

  function prChart(svg, scene) {
    const { prior } = scene.looks[scene.shown];
    const [x, y] = ["recall", "precision"].map((name) => [name, name, name]);
    return curveChart(svg, scene, x, y, [prior, prior]);
  }

  /** Bins of a calibrated model lie on the diagonal; the area of a bubble is the share of cases in its bin. */
  function reliabilityChart(svg, { looks, shown, threshold }) {
    const axes = { x: UNIT, y: UNIT, xLabel: "mean score", yLabel: "share of positives" };
    const { put, done, X, Y, mark, line } = framed(svg, axes);
    line("even", "even", UNIT, UNIT);
    looks.forEach(({ bins }, i) => bins && line(i, kindOf(i, shown), bins.score, bins.frequency));
    const { score, frequency, mass } = looks[shown].bins;
    score.forEach((s, k) => {
      const r = Math.max(2.5, 22 * Math.sqrt(mass[k]));
      const place = { cx: tenth(X(s)), cy: tenth(Y(frequency[k])), r: tenth(r) };
      put(`bin ${k}`, "circle", { class: `bubble m${shown} f${shown}`, ...place });
    });
    const k = nearest(score, threshold);
    mark(score[k], frequency[k], shown);
    done(`share of positives over the mean score: ${figure(frequency[k])} at ${figure(score[k])}`);
    return [["mean score", score[k]], ["positive", frequency[k]], ["of the cases", mass[k]]];
  }

  /** Positives above the line and negatives below, each as shares of its class; noise may carry them across. */
  function distributionChart(svg, { looks, shown, threshold, named }) {
    const { measure } = looks[shown];
    const { edges, positive, negative } = (looks[shown].bars ??= distribution(measure, BINS));
    const shares = (masses, whole) => Array.from(masses, (mass) => ratio(mass, whole) || 0);
    const [up, down] = [shares(positive, measure.positives), shares(negative, measure.negatives)];
    const most = Math.max(...up, ...down, 1e-9);
    const axes = { x: [edges[0], edges[BINS]], y: [-most, most], xLabel: "score", yLabel: "share of the class" };
    const name = (v) => String(Math.abs(v));
    const { put, done, X, Y, mark, left, right, tall } = framed(svg, { ...axes, name });
    const area = (heights, sign) => {
      const steps = heights.map((h, k) => `V${tenth(Y(sign * h))}H${tenth(X(edges[k + 1]))}`);
      return `M${left} ${tenth(Y(0))}${steps.join("")}V${tenth(Y(0))}Z`;
    };
    put("down", "path", { class: "area fn", d: area(down, -1) });
    put("up", "path", { class: `area f${shown} m${shown}`, d: area(up, 1) });
    put("zero", "path", { class: "axis", d: `M${left} ${tenth(Y(0))}H${right}` });
    put("positives", "text", { x: right, y: 12, "text-anchor": "end" }, "positives ↑");
    put("negatives", "text", { x: left, y: tall - 3 }, "negatives ↓");
    mark(threshold, NaN, shown);
    const { tp, fp, positives, negatives } = confusion(measure, threshold);
    const [recall, fpr] = [ratio(tp, positives), ratio(fp, negatives)];
    const shareOfBoth = `${figure(recall)} of the positives and ${figure(fpr)} of the negatives`;
    done(`scores of both classes: ${shareOfBoth} from ${named} on`);
    return [["from", named], ["positives", recall], ["negatives", fpr]];
  }

  /** A metric over the priors, a line { i, x, y } for each model; the naive figure is the same everywhere. */
  function sensitivityChart(svg, { title, lines, naive, shown, prior, value }) {
    const [priors, values] = [lines.flatMap(({ x }) => x), lines.flatMap(({ y }) => y)];
    const known = [naive, ...values].filter(Number.isFinite);
    if (!priors.length || !known.length) return;
    const [first, last] = [Math.min(...priors), Math.max(...priors)];
    const [low, high] = [Math.min(...known), Math.max(...known)];
    // A flat line is given room, so that its rounding does not show.
    const side = Math.max(0.08 * (high - low), 0.1 * Math.abs(high) - (high - low) / 2, 1e-6);
    const x = [first < last / 50 ? 0 : first, last];
    const all = lines.map(({ i, ...line }) => ({ key: i, kind: kindOf(i, shown), ...line }));
    if (Number.isFinite(naive)) all.unshift({ key: "naive", kind: "naive", x, y: [naive, naive] });
    const there = `${figure(value)} at ${figure(prior)}, naive ${figure(naive)}`;
    const label = `${title} over the share of positives: ${there}`;
    const axes = { x, y: [low - side, high + side], height: 0.6, parts: 4 };
    lineChart(svg, { ...axes, lines: all, cursor: [prior, value, shown], label });
  }

  /** A row of the table from 0 to 1: the interval as a bar, the value as a dot, the naive figure as a tick. */
  function strip(svg, i, { naive, value, low, high }) {
    const X = (v) => tenth(clip(v, 0, 1) * 176);
    const { put, done } = pen(svg, 176, 14);
    const there = (...values) => values.every(Number.isFinite);
    put("base", "path", { class: "grid", d: "M0 7H176" });
    put("bar", "path", { class: `bar m${i}`, d: there(low, high) ? `M${X(low)} 7H${X(high)}` : "" });
    put("tick", "path", { class: "tick", d: there(naive) ? `M${X(naive)} 2v10` : "" });
    put("value", "circle", { class: `f${i}`, ...(there(value) ? { cx: X(value), cy: 7, r: 3.5 } : { r: 0 }) });
    done();
  }

  return {
    distributionChart, element, nearest, prChart, reliabilityChart, rocChart, sensitivityChart, strip,
  };
})();
