// The measure: mass of the population, of its positives and of its negatives at each score, from the sums of
// the strata. Twin of halftruth.evidence and halftruth.measure._mass_rule at one prior and one purity.

const {
  confusion, firstAt, measureOf, prCurve, priorRange, ratesOf, rocCurve, rule, shares, sweep, totalsOf,
} = (() => {
  const NAMES = ["positive", "unlabeled", "negative"];
  const IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const LEAST = 1e-3; // of the largest α: at 0 itself there is no positive to measure

  /** Sum over all scores of each column, by stratum. */
  function totalsOf(sums) {
    const each = (columns) => mapped(columns, (values) => sum(values));
    return mapped(sums, each);
  }

  function mapped(object, change) {
    return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
  }

  /** Weight of each stratum and of all. */
  function sizesOf(totals) {
    const positive = totals.positive?.weight ?? 0;
    const unlabeled = totals.unlabeled?.weight ?? 0;
    const negative = totals.negative?.weight ?? 0;
    return { positive, unlabeled, negative, n: positive + unlabeled + negative };
  }

  /** Reviewed rows come as soft labels, which may leave [0, 1]. */
  const ofSoft = ({ kind }) => kind === "soft" || kind === "reviewed";

  /** π, the share of positives in the population, and α, their share among the unlabeled. */
  function shares(model, prior, purity = 1) {
    return sharesOf(model, totalsOf(model.table.sums), prior, purity);
  }

  function sharesOf(model, totals, prior, purity) {
    const size = sizesOf(totals);
    if (model.kind === "labeled") return { pi: ratio(size.positive, size.n), alpha: null };
    if (ofSoft(model)) return { pi: ratio(totals.soft.value, totals.soft.weight), alpha: null };
    if (model.kind === "positive_confidence") {
      return { pi: prior ?? ratio(totals.positive.weight, totals.positive.value), alpha: null };
    }
    if (model.rule.population === "unlabeled") return { pi: prior, alpha: prior };
    return { pi: prior, alpha: ratio(prior * size.n - purity * size.positive, size.unlabeled) };
  }

  /** The lowest and the highest prior that the data do not refute, at a purity. */
  function priorRange(model, purity = 1) {
    const { alpha_high: largest, kappa, low, high } = model.shares;
    if (largest === null) return [low, high];
    let most = largest * purity;
    if (purity < 1 && kappa !== null) most = kappa > 0 ? Math.min(most, 1 - (1 - purity) / kappa) : 0;
    const ends = [largest * purity * LEAST, most];
    if (model.rule.population === "unlabeled") return ends;
    const size = sizesOf(totalsOf(model.table.sums));
    return ends.map((alpha) => ratio(purity * size.positive + alpha * size.unlabeled, size.n));
  }

  // Of each column of sums: what it adds to the mass, and to the positives' mass. The negatives' is the
  // difference of the coefficients, not of the masses: with labels it is then exact.
  function term(stratum, column, mass, pos) {
    return { stratum, column, mass, pos, neg: mass - pos };
  }

  /**
   * The coefficients for these sums at a prior and a purity; ``totals`` where they are known already, ``extreme``
   * where known positives are biased: one of the two laws that those in the population may have.
   */
  function rule(model, sums, prior = null, purity = 1, totals = totalsOf(sums), extreme = null) {
    const size = model.rule.rows.population;
    const { pi, alpha } = sharesOf(model, totals, prior, purity);
    if (model.kind === "labeled") {
      const terms = Object.keys(sums).map((name) => term(name, "weight", 1, name === "positive" ? 1 : 0));
      return { terms, size, alpha };
    }
    if (ofSoft(model)) {
      return { terms: [term("soft", "weight", 1, 0), term("soft", "value", 0, 1)], size, alpha };
    }
    if (model.kind === "positive_confidence") {
      const factor = pi / ratio(totals.positive.weight, totals.positive.value);
      return { terms: [term("positive", "value", 1, 0), term("positive", "weight", 0, factor)], size, alpha };
    }
    return mixed(model.rule, totals, pi, alpha, purity, extreme);
  }

  /** The rule from positives and unlabeled, with known negatives mixed in where there are any. */
  function mixed(given, totals, pi, alpha, purity, extreme) {
    const size = sizesOf(totals);
    const all = given.population === "all";
    const n = all ? size.n : size.unlabeled;
    const portions = [ratio(size.positive, size.n), ratio(size.unlabeled, size.n), ratio(size.negative, size.n)];
    const first = fromPositives(pi, alpha, purity, all ? portions[1] : null);
    const second = fromRest(pi, all ? portions : null);
    const mix = totals.negative ? mixingWeight(first, second, given.noise, portions, n) : 0;
    const terms = [];
    const on = [0, 0, 0];
    for (let k = 0; k < 3; k++) {
      const name = NAMES[k];
      if (!totals[name]) continue;
      const own = (1 - mix) * first.on[k];
      const other = mix * second.on[k];
      on[k] = own + other;
      const ofOther = other === 0 ? 0 : (other * n) / totals[name].weight;
      const base = k === 0 ? given.base : "weight";
      const ofOwn = own === 0 ? 0 : (own * n) / totals[name][base];
      if (base !== "weight") terms.push(term(name, base, 0, ofOwn));
      terms.push(term(name, "weight", all || k === 1 ? 1 : 0, base === "weight" ? ofOwn + ofOther : ofOther));
    }
    const tilt = extreme && tiltOf(extreme, given, size, pi, alpha, purity);
    const own = ownMass(given, totals, terms, tilt?.meanSquare ?? 1);
    return { terms, size: informative(given.rows, on), alpha, own, tilt };
  }

  /** What a row of the known positives adds to its own precision: see `PositiveUnlabeled.rule`. */
  function ownMass({ population, units }, totals, terms, times) {
    const unit = units.positive.weight;
    let pos = population === "all" ? -unit : 0;
    let positives = 0;
    for (const term of terms) {
      if (term.stratum === "positive") pos += times * term.pos * units.positive[term.column];
      positives += term.pos * totals[term.stratum][term.column];
    }
    // Others by which to judge it: not where nothing but rounding is left without it.
    const several = totals.positive.weight > 1.001 * unit && pos < (1 - 1e-9) * positives;
    return { pos: several ? pos : 0, mass: population === "all" ? 0 : units.unlabeled.weight };
  }

  /** Rows of full labels that would be as informative: 1 / (π²/n_P + 1/n_U) with clean positives. */
  function informative(rows, on) {
    let noise = 0;
    for (let k = 0; k < 3; k++) {
      if (rows[NAMES[k]] !== undefined) noise += on[k] ** 2 / rows[NAMES[k]];
    }
    const size = 1 / (noise + 1 / rows.population);
    return Number.isNaN(size) ? 1 : size;
  }

  /**
   * π f̂₁ from the known positives, and from the unlabeled where those are not pure: coefficients on the strata's
   * distributions. Of one table (``unlabeledShare`` given) also how they move with the share of each stratum.
   */
  function fromPositives(pi, alpha, purity, unlabeledShare) {
    const pure = purity === 1;
    const gap = purity - alpha > 1e-12 ? purity - alpha : NaN;
    const on = pure ? [pi, 0, 0] : [(pi * (1 - alpha)) / gap, (-pi * (1 - purity)) / gap, 0];
    if (unlabeledShare === null) return { on, moves: null };
    const withAlpha = pure ? 0 : (pi * (1 - purity)) / gap ** 2;
    const moves = (x) => [ratio(x, unlabeledShare) * withAlpha, ratio(x, unlabeledShare) * -withAlpha, 0];
    return { on, moves: [moves(-purity), moves(-alpha), moves(0)] };
  }

  /** μ̂ − (1−π) N/n_N: what is left when the negatives are taken out. */
  function fromRest(pi, portions) {
    const left = portions ?? [0, 1, 0];
    return { on: [left[0], left[1], left[2] - (1 - pi)], moves: portions && IDENTITY };
  }

  /** The weight of the second estimate that makes the variance of the mix least. */
  function mixingWeight(first, second, noise, portions, n) {
    const covariance = (a, b) => {
      let out = 0;
      for (let k = 0; k < 3; k++) out += a.on[k] * b.on[k] * noise.within[k];
      if (a.moves === null || b.moves === null) return out;
      let both = 0;
      for (let k = 0; k < 3; k++) both += portions[k] * form(a.moves[k], b.moves[k], noise.gram);
      return out + (both - form(mean(portions, a.moves), mean(portions, b.moves), noise.gram)) / n;
    };
    const shared = covariance(first, second);
    const gain = covariance(first, first) - shared;
    const spread = gain + covariance(second, second) - shared;
    return spread > 0 ? clip(gain / spread, 0, 1) : 0;
  }

  function mean(portions, rows) {
    const at = (j) => portions[0] * rows[0][j] + portions[1] * rows[1][j] + portions[2] * rows[2][j];
    return [at(0), at(1), at(2)];
  }

  /** aᵀ G b. */
  function form(a, b, gram) {
    let out = 0;
    for (let i = 0; i < 3; i++) {
      if (a[i] !== 0) out += a[i] * (gram[i][0] * b[0] + gram[i][1] * b[1] + gram[i][2] * b[2]);
    }
    return out;
  }

  const typed = new WeakMap();

  /** The scores as a typed array, the same one each time, so that what hangs on them alone is made once. */
  function axis(score) {
    if (score instanceof Float64Array) return score;
    if (!typed.has(score)) typed.set(score, Float64Array.from(score));
    return typed.get(score);
  }

  /** An array of the space by its name, made once; what is in it is overwritten. */
  function room(space, name, length) {
    return (space[name] ??= new Float64Array(length));
  }

  /**
   * The measure that a rule makes of these sums. ``memo`` holds what metrics share; its arrays lie in ``space``, so
   * that of many measures, looked at one after the other, only the first takes any.
   */
  function measureOf(score, sums, rule, space = {}) {
    const m = score.length;
    const mass = room(space, "mass", m).fill(0);
    const pos = room(space, "pos", m).fill(0);
    const neg = room(space, "neg", m).fill(0);
    for (const { stratum, column, mass: a, pos: b, neg: c } of rule.terms) {
      const values = sums[stratum][column];
      for (let i = 0; i < m; i++) {
        const x = values[i];
        mass[i] += a * x;
        pos[i] += b * x;
        neg[i] += c * x;
      }
    }
    if (rule.tilt) {
      tilt(rule.tilt, score, mass, pos);
      for (let i = 0; i < m; i++) neg[i] = mass[i] - pos[i];
    }
    return {
      score: axis(score),
      mass,
      pos,
      neg,
      total: sum(mass),
      positives: sum(pos),
      negatives: sum(neg),
      size: rule.size,
      alpha: rule.alpha,
      own: rule.own ?? { pos: 0, mass: 0 },
      tilt: rule.tilt ?? null,
      bounded: score[0] >= 0 && score[m - 1] <= 1,
      memo: {},
      space,
    };
  }

  /** ``make(measure)``, made once. */
  function once(measure, name, make) {
    if (measure.memo[name] === undefined) measure.memo[name] = make(measure);
    return measure.memo[name];
  }

  // --- The sweep: masses at or above each threshold, which falls from +inf to the lowest score.

  function fromAbove(masses, out) {
    const m = masses.length;
    let above = 0;
    out[0] = 0;
    for (let i = 1; i <= m; i++) out[i] = above += masses[m - i];
    return out;
  }

  function sweep(measure) {
    return once(measure, "sweep", ({ pos, neg, mass, space }) => {
      const m = mass.length;
      const tp = fromAbove(pos, room(space, "tp", m + 1));
      const fp = fromAbove(neg, room(space, "fp", m + 1));
      const predicted = fromAbove(mass, room(space, "predicted", m + 1));
      return { tp, fp, predicted, m, positives: tp[m], negatives: fp[m], total: predicted[m] };
    });
  }

  function shareOf(masses, whole, out) {
    for (let i = 0; i < out.length; i++) out[i] = ratio(masses[i], whole);
    return out;
  }

  function ratesOf(measure) {
    return once(measure, "rates", ({ space }) => {
      const { fp, tp, m, negatives, positives } = sweep(measure);
      const fpr = shareOf(fp, negatives, room(space, "fpr", m + 1));
      return { fpr, tpr: shareOf(tp, positives, room(space, "tpr", m + 1)) };
    });
  }

  /** μ₁/μ above each threshold, read at the next population score where μ is still 0. */
  function precisionsOf(measure) {
    return once(measure, "precision", ({ space }) => {
      const { tp, predicted, m } = sweep(measure);
      const out = room(space, "precision", m + 1);
      let next = NaN;
      for (let i = m; i >= 0; i--) {
        if (predicted[i] !== 0) next = tp[i] / predicted[i];
        out[i] = next;
      }
      return out;
    });
  }

  const fallen = new WeakMap();

  function thresholds({ score }) {
    if (!fallen.has(score)) {
      const out = new Float64Array(score.length + 1);
      out[0] = Infinity;
      for (let i = 1; i < out.length; i++) out[i] = score[score.length - i];
      fallen.set(score, out);
    }
    return fallen.get(score);
  }

  function rocCurve(measure) {
    return { ...ratesOf(measure), threshold: thresholds(measure) };
  }

  function prCurve(measure) {
    return { precision: precisionsOf(measure), recall: ratesOf(measure).tpr, threshold: thresholds(measure) };
  }

  /** Index of the first score at or above the threshold. */
  function firstAt(score, threshold) {
    let [low, high] = [0, score.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (score[middle] < threshold) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Masses of the four cells where a score at or above the threshold is called positive. */
  function confusion(measure, threshold) {
    const known = measure.memo.confusion;
    if (known !== undefined && known.threshold === threshold) return known;
    const first = firstAt(measure.score, threshold);
    const [tp, fn] = [sum(measure.pos, first), sum(measure.pos, 0, first)];
    const [fp, tn] = [sum(measure.neg, first), sum(measure.neg, 0, first)];
    const [predicted, rest] = [sum(measure.mass, first), sum(measure.mass, 0, first)];
    const [positives, negatives, total] = [tp + fn, fp + tn, predicted + rest];
    const cells = { threshold, tp, fp, fn, tn, predicted, rest, positives, negatives, total };
    measure.memo.confusion = cells;
    return cells;
  }

  return {
    confusion, firstAt, measureOf, prCurve, priorRange, ratesOf, rocCurve, rule, shares, sweep, totalsOf,
  };
})();
