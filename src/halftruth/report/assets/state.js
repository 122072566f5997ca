// What the page knows: the shares of each model, what is shown, and what follows from them.

const {
  NAIVE, RATES, able, all, at, computeIntervals, computeLines, data, figuresOf, home, indices, intervalsOf, isAway, linesOf,
  linked, look, metrics, models, movable, named, range, rateAt, scoreOfTop, spreadOf, state, topRates, valueOf,
} = (() => {
  const at = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const data = JSON.parse(at("data").textContent);
  const { metrics, models } = data;

  const N_PRIORS = 21;
  const TOP = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7];
  const NAIVE = { positive_unlabeled: "unlabeled taken for negative", reviewed: "the reviewed cases alone" };
  const RATES = ["flagged", "precision", "recall", "fpr", "f1"];
  const FEWEST = 5; // reviews above a threshold that say something of what lies there
  const indices = models.map((_, i) => i);
  const { linked } = data; // models see one population, groups and samples with priors of their own are one each
  const movable = indices.filter((i) => models[i].shares?.moves);

  const homePurity = (i) => models[i].shares?.purity ?? 1;
  const isAway = (i) => state.shares[i].purity !== homePurity(i);

  /** The priors that are not refuted, of one model or of all that see one population, where these leave any. */
  function range(i, purity) {
    const of = (k) => priorRange(models[k], models[k].shares.noisy ? purity : homePurity(k));
    const each = movable.filter((k) => linked || k === i).map(of);
    const [low, high] = [Math.max(...each.map(([low]) => low)), Math.min(...each.map(([, high]) => high))];
    return low > high && movable.includes(i) ? of(i) : [low, high];
  }

  /**
   * ``wish`` is the prior asked for, in the digits of its field; ``prior`` is what the purity leaves of it.
   * ``selection`` is Γ. ``exact``: prior and purity are no longer as evaluated; ``moved``: anything is not.
   */
  function home(i) {
    const purity = homePurity(i);
    const [low, high] = range(i, purity);
    const prior = models[i].shares?.prior ?? (low + high) / 2;
    const selection = models[i].selection?.gamma ?? 1;
    return { wish: Number(prior.toPrecision(6)), prior, purity, selection, exact: false, moved: false };
  }

  const state = { shares: indices.map(home), shown: 0, threshold: null, hover: null, prior: null };
  // Too many groups have no table; without any prior there is nothing to draw.
  const able = indices.filter((i) => models[i].table && Number.isFinite(state.shares[i].prior));
  const cache = new Map();

  /** What is held under the name, where it was made for this key. */
  function held(name, key) {
    return cache.get(name)?.key === key ? cache.get(name).value : null;
  }

  /** ``make()``, made again only where the key is another. */
  function kept(name, key, make) {
    if (cache.get(name)?.key !== key) cache.set(name, { key, value: make() });
    return cache.get(name).value;
  }

  function measureAt(i, prior, purity, space, extreme) {
    const { score, sums } = models[i].table;
    return measureOf(score, sums, rule(models[i], sums, prior, purity, undefined, extreme), space);
  }

  const curveOf = (measure) => ({ ...rocCurve(measure), ...prCurve(measure) });
  const valueOf = ({ name, parameters, twin }, measure) => (twin ? METRICS[name](measure, parameters) : NaN);
  const byLabel = (make) => Object.fromEntries(metrics.map((metric) => [metric.label, make(metric)]));
  const keyOf = ({ prior, purity, selection, exact, moved }) => [prior, purity, selection, exact, moved].join(" ");

  /** What is known of a model at its shares, but for intervals. */
  function look(i) {
    const { prior, purity, exact, moved } = state.shares[i];
    return kept(`look ${i}`, keyOf(state.shares[i]), () => {
      const measure = measureAt(i, prior, purity);
      const curve = curveOf(measure);
      return {
        prior, measure, curve,
        values: moved ? byLabel((metric) => (exact ? valueOf(metric, measure) : atHome(i, metric).value)) : null,
        naive: NAIVE[models[i].kind] ? naiveCurve(i) : null,
        bins: models[i].bounded ? reliability(measure) : null,
        outside: ["fpr", "precision"].filter((name) => curve[name].some((x) => x < -0.005 || x > 1.005)),
      };
    });
  }

  /** A row as evaluated; NaN where it has no number. */
  function atHome(i, { label }) {
    const { value, low, high, plain, selected } = models[i].home[label] ?? {};
    const numbers = (...each) => each.map((x) => x ?? NaN);
    return {
      value: value ?? NaN,
      plain: numbers(...(plain ?? [low, high])),
      spread: [numbers(low, high), numbers(...(selected ?? [value, value]))],
    };
  }

  /** The smallest law of the positives and the largest, but for one that labels do not lean to. */
  function extremes(i) {
    const { selection: gamma } = state.shares[i];
    const { direction, edge, slack } = models[i].selection ?? {};
    const sides = { rising: [false], falling: [true] }[direction] ?? [false, true];
    return gamma === 1 ? [] : sides.map((upward) => ({ gamma, upward, edge, slack }));
  }

  /** Intervals of a model at its shares, by label [low, high, and what bias alone gives]; null before computed. */
  const intervalsOf = (i) => held(`intervals ${i}`, keyOf(state.shares[i]));

  function computeIntervals(i) {
    const { prior, purity, exact } = state.shares[i];
    const under = (measure, values, extreme) => {
      const errors = standardErrors(models[i], metrics, prior, purity, measure, extreme);
      const regular = unsigned(measure);
      return ({ label, limits }) => [...interval(values[label], errors[label], limits, regular), values[label]];
    };
    return kept(`intervals ${i}`, keyOf(state.shares[i]), () => {
      const { measure, values } = look(i);
      const known = exact ? under(measure, values) : (metric) => [...atHome(i, metric).plain, values[metric.label]];
      const laws = extremes(i).map((extreme) => {
        const there = measureAt(i, prior, purity, {}, extreme);
        return { tilt: there.tilt, row: under(there, byLabel((metric) => valueOf(metric, there)), extreme) };
      });
      return byLabel((metric) => {
        const here = known(metric);
        if (laws.length && metric.selection !== "ends") return reached(metric, here, measure, laws[0].tilt);
        const rows = [here, ...laws.map(({ row }) => row(metric))];
        const [low, high, value] = [0, 1, 2].map((k) => rows.map((row) => row[k]));
        return [Math.min(...low), Math.max(...high), Math.min(...value), Math.max(...value)];
      });
    });
  }

  /** A distance, which is not farthest at the extreme laws: an outer bound. */
  function reached(metric, [low, high, value], { positives, total }, tilt) {
    const reach = reachOf(metric, ratio(positives, total), tilt);
    const [least, most] = [metric.limits[0] ?? -Infinity, metric.limits[1] ?? Infinity];
    const from = Number.isNaN(low + high) ? [value, value] : [low, high];
    return [from[0] - reach, from[1] + reach, value - reach, value + reach].map((end) => clip(end, least, most));
  }

  /** Of a row: its interval, and between which values bias alone puts it; nulls before they are computed. */
  function spreadOf(i, metric) {
    if (!state.shares[i].moved) return atHome(i, metric).spread;
    const [low, high, least, most] = intervalsOf(i)?.[metric.label] ?? [null, null, null, null];
    return [[low, high], [least, most]];
  }

  /** Rows of the table of metrics by label; without low and high where these are not computed yet. */
  function figuresOf(i) {
    if (!state.shares[i].moved) return models[i].home;
    const [{ values }, intervals] = [look(i), intervalsOf(i)];
    return byLabel(({ label }) => {
      const [low, high] = intervals?.[label] ?? [];
      return { naive: models[i].home[label]?.naive, value: values[label], low, high };
    });
  }

  /** The curves of one who takes all but the known positives for negative, or the reviewed rows for all. */
  function naiveCurve(i) {
    return kept(`naive ${i}`, "", () => {
      const { score, sums } = models[i].table;
      const terms = Object.keys(sums).filter((name) => name !== "soft").map((stratum) => {
        const pos = stratum === "positive" ? 1 : 0;
        return { stratum, column: "weight", mass: 1, pos, neg: 1 - pos };
      });
      return curveOf(measureOf(score, sums, { terms, size: 1, alpha: null }));
    });
  }

  /** Each metric over the priors that are not refuted; null before these lines are computed. */
  const linesOf = (i) => held(`lines ${i}`, state.shares[i].purity);

  function computeLines(i) {
    const { purity } = state.shares[i];
    return kept(`lines ${i}`, purity, () => {
      const [low, high] = range(i, purity);
      const x = Array.from({ length: N_PRIORS }, (_, k) => low + ((high - low) * k) / (N_PRIORS - 1));
      const lines = byLabel(({ label, twin }) => (twin ? { x, y: [] } : pythonsLine(i, label)));
      const space = {};
      for (const prior of x) {
        const measure = measureAt(i, prior, purity, space);
        for (const metric of metrics) if (metric.twin) lines[metric.label].y.push(valueOf(metric, measure));
      }
      return lines;
    });
  }

  /** What only Python computes, as it left it: a line for the purity that was evaluated. */
  function pythonsLine(i, label) {
    const points = (!isAway(i) && models[i].sensitivity?.[label]) || [];
    return { x: points.map(([prior]) => prior), y: points.map(([, value]) => value ?? NaN) };
  }

  /** The highest score that at least such a share of the population reaches. */
  function scoreOfTop({ score, mass, total }, share) {
    let [above, k] = [0, score.length];
    while (k > 0 && above < share * total * (1 - 1e-12)) above += mass[--k];
    return score[Math.min(k, score.length - 1)];
  }

  function rateAt(measure, what, threshold) {
    if (what === "net_benefit" && !(threshold >= 0 && threshold < 1)) return NaN;
    return METRICS[what === "flagged" ? "predicted_positive_rate" : what](measure, { threshold });
  }

  /** How many cases from a threshold on were reviewed. */
  function reviewsAbove(i, threshold) {
    const { score, sums: { positive, negative } } = models[i].table;
    const from = firstAt(score, threshold);
    return [positive, negative].reduce((all, of) => all + (of ? sum(of.count ?? of.weight, from) : 0), 0);
  }

  /** Rows of the table of thresholds: [threshold, rates, reviews above]; few reviews give no rates but "flagged". */
  function topRates(i) {
    const seen = look(i);
    const { measure } = seen;
    const scores = () => [...new Set(TOP.map((share) => scoreOfTop(measure, share)))];
    const reviewed = models[i].kind === "reviewed";
    const cut = (x) => (models[i].status === "refuted" && isBeyond(x, [0, 1]) ? NaN : clip(x, 0, 1));
    const row = (threshold) => {
      const n = reviewed ? reviewsAbove(i, threshold) : null;
      const few = n !== null && n < FEWEST;
      const rate = (what) => (few && what !== "flagged" ? NaN : rateAt(measure, what, threshold));
      return [threshold, RATES.map((what) => (reviewed ? cut(rate(what)) : rate(what))), n];
    };
    return (seen.top ??= scores().map(row));
  }

  /** A threshold in words: a score in the fewest digits that call the same cases positive, others as given. */
  function named(i, threshold) {
    const { score } = look(i).measure;
    const k = firstAt(score, threshold);
    for (let digits = 4; score[k] === threshold && digits < 17; digits++) {
      const near = threshold.toPrecision(digits);
      const unit = 10 ** (Math.floor(Math.log10(Math.abs(near) || 1)) + 1 - digits);
      const rounded = near > threshold ? Number((near - unit).toPrecision(digits)) : Number(near);
      if (rounded <= threshold && (k === 0 || rounded > score[k - 1])) return String(rounded);
    }
    return String(threshold);
  }

  return {
    NAIVE, RATES, able, all, at, computeIntervals, computeLines, data, figuresOf, home, indices, intervalsOf, isAway, linesOf,
    linked, look, metrics, models, movable, named, range, rateAt, scoreOfTop, spreadOf, state, topRates, valueOf,
  };
})();
