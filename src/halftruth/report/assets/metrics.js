// Metrics and curves: functions of a measure. Twins of halftruth.metrics and halftruth.calibration, parameters by
// their names there. What is undefined is NaN.

const { METRICS, distribution, reliability } = (() => {
  const SLACK = 1e-12;

  /** The value, NaN where a class is empty, or there only by rounding. */
  function whereBoth(value, positives, negatives) {
    const [p, n] = [Math.abs(positives), Math.abs(negatives)];
    return Math.min(p, n) <= SLACK * (p + n) ? NaN : value;
  }

  // --- Rates at a threshold.

  const compared = (c, value) => whereBoth(value, c.positives, c.negatives);

  /** A share of a sum of cells, which signed cells may cancel but for rounding. */
  function partOf(c, part, whole) {
    return compared(c, ratio(part, Math.abs(whole) <= SLACK * Math.abs(c.total) ? 0 : whole));
  }

  function fbeta(c, beta) {
    const square = beta ** 2;
    return partOf(c, (1 + square) * c.tp, square * c.positives + c.predicted);
  }

  /** 0 where all cases are called the same. */
  function mcc(c) {
    if (c.predicted === 0 || c.rest === 0) return compared(c, 0 * Math.abs(c.tp + c.tn));
    // In pairs: the root of a square is exact, so that a perfect classifier has exactly 1.
    const root = (one, other) => Math.sqrt(Math.max(one * other, 0));
    const scale = root(c.positives, c.predicted) * root(c.negatives, c.rest);
    return compared(c, ratio(c.tp * c.tn - c.fp * c.fn, scale));
  }

  const RATES = {
    predicted_positive_rate: (c) => ratio(c.predicted, c.total),
    precision: (c) => compared(c, ratio(c.tp, c.predicted)),
    recall: (c) => ratio(c.tp, c.positives),
    fpr: (c) => ratio(c.fp, c.negatives),
    specificity: (c) => ratio(c.tn, c.negatives),
    npv: (c) => compared(c, ratio(c.tn, c.rest)),
    fdr: (c) => compared(c, ratio(c.fp, c.predicted)),
    f1: (c) => fbeta(c, 1),
    fbeta: (c, { beta = 2 }) => fbeta(c, beta),
    accuracy: (c) => ratio(c.tp + c.tn, c.total),
    balanced_accuracy: (c) => (RATES.recall(c) + RATES.specificity(c)) / 2,
    mcc,
    cohen_kappa: (c) => {
      const spread = c.predicted * c.negatives + c.rest * c.positives;
      return compared(c, ratio(2 * (c.tp * c.tn - c.fp * c.fn), spread));
    },
    jaccard: (c) => partOf(c, c.tp, c.predicted + c.fn),
    youden_j: (c) => RATES.recall(c) - RATES.fpr(c),
    lift: (c) => compared(c, ratio(RATES.recall(c), RATES.predicted_positive_rate(c))),
  };

  /** TP − FP · t/(1−t) per case. */
  function netBenefit(measure, { threshold }) {
    if (!(threshold >= 0 && threshold < 1)) return NaN;
    const { tp, fp } = confusion(measure, threshold);
    return ratio(tp - (fp * threshold) / (1 - threshold), measure.total);
  }

  // --- Areas, and points at a budget.

  function rocAuc(measure) {
    const { tp, m, positives, negatives } = sweep(measure);
    let area = 0;
    for (let i = 1; i <= m; i++) area += ((tp[i] + tp[i - 1]) / 2) * measure.neg[m - i];
    return whereBoth(ratio(ratio(area, positives), negatives), positives, negatives);
  }

  /** The area from ∫ precision dμ₁ without a known positive's own part. */
  function ofPrecision(measure, area) {
    const { positives, negatives, total } = sweep(measure);
    const { pos, mass } = measure.own;
    const scale = ratio(positives, positives - pos) * ratio(total + mass, total);
    return whereBoth(ratio(area * scale, positives), positives, negatives);
  }

  /** Each known positive's precision is read from the others. */
  function averagePrecision(measure) {
    const { tp, predicted, m } = sweep(measure);
    const { pos, mass } = measure.own;
    let area = 0;
    for (let i = 1; i <= m; i++) {
      const cases = predicted[i] + mass;
      if (cases !== 0) area += ((tp[i] - pos) / cases) * measure.pos[m - i];
    }
    return ofPrecision(measure, area);
  }

  /** Between two thresholds TP and FP grow in proportion, so precision follows a hyperbola in recall. */
  function prAuc(measure) {
    const { tp, predicted, m } = sweep(measure);
    const { pos, mass } = measure.own;
    let area = 0;
    for (let i = 1; i <= m; i++) {
      const end = predicted[i] + mass;
      if (end === 0) continue;
      let mean = (tp[i] - pos) / end;
      if (predicted[i - 1] !== 0) {
        const start = predicted[i - 1] + mass;
        const growth = (end - start) / start;
        const curvature = bend(growth);
        mean = ((tp[i] - pos - tp[i - 1]) / start) * curvature + (tp[i - 1] / start) * (1 - growth * curvature);
      }
      area += mean * measure.pos[m - i];
    }
    return ofPrecision(measure, area);
  }

  /** (1 − log(1+x)/x) / x, by its series where the closed form would cancel. */
  function bend(x) {
    if (x > 1e-3) return (1 - Math.log1p(x) / x) / x;
    return 1 / 2 - x * (1 / 3 - x * (1 / 4 - x * (1 / 5 - x / 6)));
  }

  /** How far along a step of ``width`` a rest of ``way`` reaches, from 0 to 1. */
  function along(way, width) {
    const part = ratio(way, width);
    return Number.isNaN(part) ? 0 : clip(part, 0, 1);
  }

  /** The last point before the false-positive rate first passes the limit, and how far on the limit lies. */
  function passage({ fpr, tpr }, limit) {
    const m = fpr.length - 1;
    let last = 0;
    while (last < m && fpr[last + 1] <= limit + SLACK) last++;
    const end = Math.min(last + 1, m);
    const [x0, y0] = [fpr[last], tpr[last]];
    const [width, rise] = [fpr[end] - x0, tpr[end] - y0];
    return { last, y0, width, rise, part: along(limit - x0, width) };
  }

  function partialAuc(measure, { max_fpr: limit = 0.1, standardize = true }) {
    const points = ratesOf(measure);
    const { fpr, tpr } = points;
    const m = fpr.length - 1;
    if (Number.isNaN(fpr[m] + tpr[m])) return NaN;
    const { last, y0, width, rise, part } = passage(points, limit);
    let area = width * part * (y0 + (rise * part) / 2);
    for (let i = 1; i <= last; i++) area += ((fpr[i] - fpr[i - 1]) * (tpr[i] + tpr[i - 1])) / 2;
    if (!standardize || limit === 1) return area;
    const chance = limit ** 2 / 2;
    return (1 + (area - chance) / (limit - chance)) / 2;
  }

  function recallAtFpr(measure, { max_fpr: limit = 0.05 }) {
    const points = ratesOf(measure);
    if (Number.isNaN(points.fpr.at(-1))) return NaN;
    // The last point within the limit, and how far on the limit lies.
    const { fpr, tpr } = points;
    let last = fpr.length - 1;
    while (last > 0 && fpr[last] > limit + SLACK) last--;
    const end = Math.min(last + 1, fpr.length - 1);
    return tpr[last] + along(limit - fpr[last], fpr[end] - fpr[last]) * (tpr[end] - tpr[last]);
  }

  /** TP among the k highest rows (or that share of them), ties shared, and k in rows. */
  function highest(measure, k) {
    const { tp, predicted, m, total } = sweep(measure);
    const budget = k < 1 ? k * total : Math.min(k, total);
    let end = 0;
    // A budget of all rows must not miss the last one by rounding.
    while (end < m && !(predicted[end] >= budget * (1 - SLACK))) end++;
    const start = Math.max(end - 1, 0);
    const part = along(budget - predicted[start], predicted[end] - predicted[start]);
    return { found: tp[start] + part * (tp[end] - tp[start]), budget };
  }

  function precisionAtK(measure, { k }) {
    const { found, budget } = highest(measure, k);
    const { positives, negatives } = sweep(measure);
    return whereBoth(ratio(found, budget), positives, negatives);
  }

  function recallAtK(measure, { k }) {
    return ratio(highest(measure, k).found, sweep(measure).positives);
  }

  // --- Proper scores: each class with its own loss at a score.

  const losses = new WeakMap();

  function lossesAt(score) {
    if (!losses.has(score)) {
      const log = (x) => -Math.log(clip(x, Number.EPSILON, 1 - Number.EPSILON));
      losses.set(score, { ofPositive: score.map(log), ofNegative: score.map((s) => log(1 - s)) });
    }
    return losses.get(score);
  }

  function brier({ score, pos, neg, total }) {
    let loss = 0;
    for (let i = 0; i < score.length; i++) {
      const s = score[i];
      loss += (1 - s) ** 2 * pos[i] + s ** 2 * neg[i];
    }
    return ratio(loss, total);
  }

  function brierSkill(measure) {
    const { positives, negatives, total } = measure;
    const variance = ratio(positives * negatives, total ** 2);
    return whereBoth(1 - ratio(brier(measure), variance), positives, negatives);
  }

  function logLoss({ score, pos, neg, total }) {
    const { ofPositive, ofNegative } = lossesAt(score);
    let loss = 0;
    for (let i = 0; i < score.length; i++) loss += ofPositive[i] * pos[i] + ofNegative[i] * neg[i];
    return ratio(loss, total);
  }

  // --- Risk: losses ℓ of the margin, which is the score of a positive and minus that of a negative.

  const MARGIN = {
    sigmoid: (z) => 1 / (1 + Math.exp(z)),
    logistic: (z) => Math.max(-z, 0) + Math.log1p(Math.exp(-Math.abs(z))),
    squared: (z) => (z - 1) ** 2,
    ramp: (z) => clip((1 - z) / 2, 0, 1),
  };

  function risk(measure, { loss = "logistic", threshold = 0 }) {
    const { score, pos, neg, total } = measure;
    if (loss === "zero_one") {
      const { fn, fp } = confusion(measure, threshold);
      return ratio(fn + fp, total);
    }
    if (!(loss in MARGIN)) return measure.bounded ? { log: logLoss, brier }[loss](measure) : NaN;
    const at = MARGIN[loss];
    let lost = 0;
    for (let i = 0; i < score.length; i++) lost += at(score[i]) * pos[i] + at(-score[i]) * neg[i];
    return ratio(lost, total);
  }

  // --- Calibration.

  function numberOfBins({ size }, number) {
    return number === "optimal" ? Math.max(1, Math.ceil(size ** (1 / 3) - 1e-9)) : number;
  }

  /** What a score must pass to leave each bin: its own value, or the mass below it. */
  function edgesOf({ mass, total }, number, binning) {
    const edges = new Float64Array(number - 1);
    const counts = binning === "mass" && mass.every(Number.isInteger);
    for (let b = 1; b < number; b++) {
      const step = total * b;
      if (binning === "width") edges[b - 1] = b / number;
      // Of counts an order statistic, without rounding; weights that miss a target by rounding have met it.
      else edges[b - 1] = counts ? (step - (step % number)) / number : (step / number) * (1 - SLACK);
    }
    return edges;
  }

  /** Of each bin: its gap μ₁ − ∫ s dμ, its mass μ and its ∫ s dμ. */
  function binned(measure, number, binning) {
    const edges = edgesOf(measure, number, binning);
    const [gap, mass, claimed] = [0, 1, 2].map(() => new Float64Array(number));
    let bin = 0;
    let upTo = 0;
    for (let i = 0; i < measure.score.length; i++) {
      const [s, here] = [measure.score[i], measure.mass[i]];
      upTo += here;
      const below = upTo - here;
      const past = (edge) => (binning === "width" ? edge < s : edge <= below);
      while (bin < edges.length && past(edges[bin])) bin++;
      while (bin > 0 && !past(edges[bin - 1])) bin--; // by rounding the mass below may step back
      gap[bin] += measure.pos[i] - s * here;
      mass[bin] += here;
      claimed[bin] += s * here;
    }
    return { gap, mass, claimed };
  }

  function calibrationError(measure, { n_bins: bins = "optimal", binning = "mass", norm = 1, debias = false }) {
    if (debias || measure.total === 0) return NaN;
    const { gap, mass } = binned(measure, numberOfBins(measure, bins), binning);
    if (norm === 1) return sum(gap.map(Math.abs)) / measure.total;
    const each = gap.map((x, b) => (mass[b] === 0 ? 0 : Math.abs(x) / mass[b]));
    if (norm === "max") return Math.max(...each);
    return Math.sqrt(sum(each.map((x, b) => x ** 2 * mass[b])) / measure.total);
  }

  function adaptiveCalibrationError(measure, { n_bins: bins = 15 }) {
    const { gap, mass } = binned(measure, numberOfBins(measure, bins), "mass");
    let [whole, held] = [0, 0];
    for (let b = 0; b < mass.length; b++) {
      if (!(mass[b] > 0)) continue;
      whole += Math.abs(gap[b]) / mass[b];
      held++;
    }
    return ratio(whole, held);
  }

  function ksCalibrationError({ score, mass, pos, total }, { statistic = "ks" }) {
    let [line, low, high] = [0, 0, 0];
    for (let i = 0; i < score.length; i++) {
      line += score[i] * mass[i] - pos[i];
      low = Math.min(low, line);
      high = Math.max(high, line);
    }
    return ratio(statistic === "ks" ? Math.max(high, -low) : high - low, total);
  }

  /** Mean score, share of positives and share of the population, of bins of equal mass that hold any. */
  function reliability(measure) {
    const { gap, mass, claimed } = binned(measure, numberOfBins(measure, "optimal"), "mass");
    const held = [...mass.keys()].filter((b) => mass[b] > 0);
    const each = (value) => Float64Array.from(held, value);
    return {
      score: each((b) => claimed[b] / mass[b]),
      frequency: each((b) => (gap[b] + claimed[b]) / mass[b]),
      mass: each((b) => mass[b] / measure.total),
    };
  }

  /** Mass of inferred positives and negatives in n bins of equal width, from the lowest to the highest score. */
  function distribution({ score, pos, neg }, n) {
    let [low, high] = [score[0], score.at(-1)];
    if (low === high) [low, high] = [low - 0.5, high + 0.5];
    const edges = Float64Array.from({ length: n + 1 }, (_, b) => low + ((high - low) * b) / n);
    const [positive, negative] = [new Float64Array(n), new Float64Array(n)];
    let bin = 0;
    for (let i = 0; i < score.length; i++) {
      while (bin < n - 1 && score[i] >= edges[bin + 1]) bin++;
      positive[bin] += pos[i];
      negative[bin] += neg[i];
    }
    return { edges, positive, negative };
  }

  // --- The list, by the names of the registry.

  const atThreshold = (rate) => (measure, given) => rate(confusion(measure, given.threshold), given);
  const ofProbabilities = (metric) => (measure, given = {}) => (measure.bounded ? metric(measure, given) : NaN);
  const optional = (metric) => (measure, given = {}) => metric(measure, given);

  const METRICS = {
    prevalence: ({ positives, total }) => ratio(positives, total),
    ...Object.fromEntries(Object.entries(RATES).map(([name, rate]) => [name, atThreshold(rate)])),
    net_benefit: ofProbabilities(netBenefit),
    roc_auc: rocAuc,
    partial_auc: optional(partialAuc),
    average_precision: averagePrecision,
    pr_auc: prAuc,
    precision_at_k: precisionAtK,
    recall_at_k: recallAtK,
    recall_at_fpr: optional(recallAtFpr),
    brier: ofProbabilities(brier),
    brier_skill: ofProbabilities(brierSkill),
    log_loss: ofProbabilities(logLoss),
    risk: optional(risk),
    calibration_error: ofProbabilities(calibrationError),
    adaptive_calibration_error: ofProbabilities(adaptiveCalibrationError),
    maximum_calibration_error: ofProbabilities((measure, given) =>
      calibrationError(measure, { ...given, norm: "max" }),
    ),
    ks_calibration_error: ofProbabilities(ksCalibrationError),
  };

  return { METRICS, distribution, reliability };
})();
