// The largest and the smallest law that positives can have where the known ones are biased. Twin of
// halftruth.measure._tilt, of `PositiveUnlabeled._tilt` and of `Metric.reach`.

const { reachOf, tilt, tiltOf } = (() => {
  const MOST = 1e6; // where noisy positives may be multiplied without end, only the unlabeled limit them

  /** What positives are multiplied by, ``low`` to ``high``, where those among the known ones may be by 1/Γ to Γ. */
  function tiltOf({ gamma, upward, edge, slack }, { population, base }, size, pi, alpha, purity) {
    let least = 1 / gamma;
    if (population === "all" && base === "weight") {
      least = clip(ratio(purity * size.positive, pi * size.n), least, 1);
    }
    const onPure = (w) => {
      // Unlabeled positives of one table are those of the population without the known ones.
      let u = population === "all" ? ratio(pi * size.n * w - purity * size.positive, alpha * size.unlabeled) : w;
      if (Number.isNaN(u)) u = 1;
      const rest = purity * (1 - alpha) - (1 - purity) * alpha * u;
      return rest > 0 ? (w * (purity - alpha)) / rest : Infinity;
    };
    const [low, high] = [least, gamma].map((w) => Math.min(onPure(w), MOST));
    const moved = high > low ? ((high - 1) * (1 - low)) / (high - low) : 0;
    return { low, high, upward, edge, slack, moved, meanSquare: low + high - low * high };
  }

  /** Moves the positives' mass in place: from the first score on, as much as each block and all of them allow. */
  function tilt({ low, high, upward, edge, slack }, score, mass, pos) {
    const total = sum(pos);
    const cuts = [0, ...edge.map((start) => firstAt(score, start)), score.length];
    const blocks = cuts.slice(1).map((end, b) => [cuts[b], end]);
    let [before, last] = [0, 0];
    for (const [start, end] of upward ? blocks.reverse() : blocks) {
      const [own, all] = [sum(pos, start, end), sum(mass, start, end)];
      // No negative negatives; what passes the whole mass before any tilt is noise, or refuted.
      const limit = (clip(own > 0 ? (slack * all) / own : 1, 1, Math.max(high, 1)) - low) * own;
      let inside = 0;
      for (let k = start; k < end; k++) {
        const i = upward ? start + end - 1 - k : k;
        inside += (high - low) * pos[i];
        const taken = Math.min(Math.min(inside, limit) + before, (1 - low) * total);
        pos[i] = low * pos[i] + (taken - last);
        last = taken;
      }
      before += limit;
    }
    // Positives that are negative somewhere, by noise, may leave something over.
    const scale = total / sum(pos);
    for (let i = 0; i < pos.length; i++) pos[i] *= scale;
  }

  /** How far, at most, a tilt moves a distance. */
  function reachOf({ selection, parameters: { norm, statistic } }, prior, { high, moved }) {
    if (norm === 2) return (high - 1) * Math.sqrt(prior);
    if (norm === "max" || selection === "largest") return high - 1;
    if (selection === "cumulative" && statistic !== "kuiper") return prior * moved;
    return selection === "unknown" ? Infinity : 2 * prior * moved;
  }

  return { reachOf, tilt, tiltOf };
})();
