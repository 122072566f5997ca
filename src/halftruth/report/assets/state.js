// What the page knows: the shares of each model, what is shown, and what follows from them.

const {
  RATES, all, at, data, drawn, home, indices, linesOf, linked, look, metrics, models, movable, range, rateAt,
  scoreOfTop, state, topScores, valueOf,
} = (() => {
  const at = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const data = JSON.parse(at("data").textContent);
  const { metrics, models } = data;

  const N_PRIORS = 21;
  const TOP = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7];
  const RATES = ["flagged", "precision", "recall", "fpr", "f1"];
  const indices = models.map((_, i) => i);
  const linked = data.kind !== "groups"; // models see one population, groups are one each
  const movable = indices.filter((i) => models[i].shares?.moves);

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

  return {
    RATES, all, at, data, drawn, home, indices, linesOf, linked, look, metrics, models, movable, range, rateAt,
    scoreOfTop, state, topScores, valueOf,
  };
})();
