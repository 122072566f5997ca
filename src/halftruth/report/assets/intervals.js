// Intervals in closed form: how far each row moves a number, and the standard error that follows. Twin of
// halftruth.inference._influence and halftruth.results._intervals.

const { interval, standardErrors, unsigned } = (() => {
  const STEP = 1e-3; // part of a sum by which it moves up and down
  const ROUNDING = 1e-14; // smaller changes, relative to the value, are none

  /** Whether no mass is negative, so that curves never turn back and shares stay in [0, 1]. */
  function unsigned({ pos, neg }) {
    return pos.every((x) => x >= 0) && neg.every((x) => x >= 0);
  }

  /**
   * Standard errors by label at a prior and a purity that are taken as exact, with what rows that were not seen may
   * add to the value and its variance; null where there is no closed form.
   * ``fine`` is the measure of the model's own table there, whose signs say whether areas under curves have one;
   * ``extreme`` is the law of the positives where they have another than the known ones.
   */
  function standardErrors(model, metrics, prior, purity, fine, extreme = null) {
    const regular = unsigned(fine);
    const wanted = metrics.filter(
      ({ twin, smooth, curve }) => model.errors !== null && twin && smooth && (regular || !curve),
    );
    const out = Object.fromEntries(metrics.map(({ label }) => [label, null]));
    if (wanted.length === 0) return out;
    const { score, sums } = tableOf(model.errors);
    const slopes = gradients(model, wanted, score, sums, prior, purity, extreme);
    wanted.forEach(({ label, places }, k) => {
      const error = Math.sqrt(variance(slopes, k, model.errors));
      const quantile = model.errors.quantile[places];
      out[label] = { error, quantile, ...unseen(slopes, k, model.errors, places) };
    });
    return out;
  }

  const tables = new WeakMap();

  /** The sums at each score of the cells for errors, made once. */
  function tableOf(errors) {
    if (!tables.has(errors)) {
      const score = Float64Array.from(errors.score);
      const sums = {};
      for (const [name, { atom, count, weight, value }] of Object.entries(errors.strata)) {
        const scattered = (each) => {
          const column = new Float64Array(score.length);
          atom.forEach((at, i) => (column[at] += each ? count[i] * each[i] : count[i]));
          return column;
        };
        sums[name] = { weight: scattered(weight), ...(value && { value: scattered(value) }) };
      }
      tables.set(errors, { score, sums });
    }
    return tables.get(errors);
  }

  /** ∂f/∂sums of each metric by stratum and column, by central differences. */
  function gradients(model, metrics, score, sums, prior, purity, extreme) {
    const functionals = metrics.map(({ name, parameters }) => [METRICS[name], parameters]);
    const whole = totalsOf(sums);
    const slopes = {};
    const space = {};
    const up = new Float64Array(metrics.length);
    for (const [name, columns] of Object.entries(sums)) {
      slopes[name] = {};
      for (const [column, values] of Object.entries(columns)) {
        const slope = metrics.map(() => new Float64Array(score.length));
        const moved = values.slice();
        const totals = { ...whole, [name]: { ...whole[name] } };
        const movedSums = { ...sums, [name]: { ...columns, [column]: moved } };
        const measureWith = (at, sum) => {
          moved[at] = sum;
          totals[name][column] = whole[name][column] + (sum - values[at]);
          return measureOf(score, movedSums, rule(model, movedSums, prior, purity, totals, extreme), space);
        };
        const sizes = Array.from(values, Math.abs).filter((x) => x > 0);
        const usual = sizes.length ? sum(sizes) / sizes.length : 1;
        for (let at = 0; at < score.length; at++) {
          const step = STEP * (Math.abs(values[at]) || usual);
          const above = measureWith(at, values[at] + step);
          functionals.forEach(([metric, given], k) => (up[k] = metric(above, given)));
          const below = measureWith(at, values[at] - step);
          functionals.forEach(([metric, given], k) => {
            const change = up[k] - metric(below, given);
            slope[k][at] = Math.abs(change) <= ROUNDING * Math.abs(up[k]) ? 0 : change / (2 * step);
          });
          moved[at] = values[at];
        }
        slopes[name][column] = slope;
      }
    }
    return slopes;
  }

  /** The sampling variance of metric k: rows of all strata drawn together, or each stratum by itself. */
  function variance(slopes, k, { strata, one_sample: together }) {
    const parts = Object.entries(strata).map(([name, cells]) => influences(slopes[name], k, cells));
    return together ? scatter(parts) : parts.reduce((all, part) => all + scatter([part]), 0);
  }

  /** How many of the parts of a row more fall on each score: one at either end, or one anywhere. */
  function placeShares({ score, strata }, places) {
    const share = new Float64Array(score.length);
    if (places === "ends") {
      share[0] = share[score.length - 1] = 1;
      return share;
    }
    for (const { atom, count } of Object.values(strata)) atom.forEach((at, i) => (share[at] += count[i]));
    const n = sum(share);
    const reach = (below) => (Math.log1p(below) - Math.log1p(n - below)) / (2 * Math.log1p(n));
    let below = 0;
    return share.map((count) => reach((below += count)) - reach(below - count));
  }

  /** What a part of a row more in each stratum adds to metric k: to the value, and to its variance. */
  function unseen(slopes, k, errors, places) {
    const share = placeShares(errors, places);
    let [shift, added] = [0, 0];
    for (const [name, { usual, parts }] of Object.entries(errors.strata)) {
      for (const row of usual) {
        share.forEach((part, at) => {
          const { weight, value } = slopes[name];
          const influence = row.weight * weight[k][at] + (value ? row.value * value[k][at] : 0);
          shift += parts[places] * part * influence;
          added += parts[places] * part * influence ** 2;
        });
      }
    }
    return { shift, unseen: added };
  }

  /** For each cell of a stratum: its rows, the mean influence of one, and their variance around it. */
  function influences(slope, k, { atom, count, weight, value, spread }) {
    const mean = new Float64Array(atom.length);
    const within = new Float64Array(atom.length);
    atom.forEach((at, i) => {
      const byWeight = slope.weight[k][at];
      const byValue = value ? slope.value[k][at] : 0;
      mean[i] = byWeight * (weight ? weight[i] : 1) + (value ? byValue * value[i] : 0);
      if (spread) {
        within[i] = (byWeight * spread[0][i] + byValue * spread[1][i]) ** 2 + (byValue * spread[2][i]) ** 2;
      }
    });
    return { count, mean, within };
  }

  /** The variance that one sample of rows gives: Σ (φ − mean φ)² n/(n−1). */
  function scatter(parts) {
    let [n, whole, around] = [0, 0, 0];
    for (const { count, mean } of parts) {
      for (let i = 0; i < mean.length; i++) {
        n += count[i];
        whole += count[i] * mean[i];
      }
    }
    for (const { count, mean, within } of parts) {
      for (let i = 0; i < mean.length; i++) around += count[i] * ((mean[i] - whole / n) ** 2 + within[i]);
    }
    return (around * n) / Math.max(n - 1, 1);
  }

  /**
   * [low, high] from what `standardErrors` gives, cut at the limits (null: none); [NaN, NaN] without it. ``regular``: no
   * mass is negative, so that shares have Wilson's interval, which has a width at 0 and 1 too.
   */
  function interval(value, errors, limits, regular) {
    if (errors === null) return [NaN, NaN];
    const [least, most] = [limits[0] ?? -Infinity, limits[1] ?? Infinity];
    const t = errors.quantile;
    const variance = errors.error ** 2 + errors.unseen;
    if (regular && least === 0 && most === 1) {
      const at = value + Math.min(Math.abs(errors.shift), 0.5) * (1 - 2 * value);
      return scoreInterval(value, variance === 0 ? Infinity : (at * (1 - at)) / variance, t);
    }
    const ends = [value - t * Math.sqrt(variance), value + t * Math.sqrt(variance)];
    // Where the value itself has left what is possible, a cut would leave one side of the interval only.
    return isBeyond(value, limits) ? ends : ends.map((end) => clip(end, least, most));
  }

  function scoreInterval(share, rows, t) {
    if (rows === Infinity) return [share, share];
    const square = t ** 2;
    const middle = (rows * share + square / 2) / (rows + square);
    const side = Math.sqrt(square * (rows * share * (1 - share) + square / 4)) / (rows + square);
    return [middle - side, middle + side];
  }

  return { interval, standardErrors, unsigned };
})();
