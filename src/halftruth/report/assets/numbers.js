// Numbers: sums and quotients as Python makes them, and how they are written.

const { SHOWN, clip, figure, isBeyond, normalQuantile, percent, ratio, reaches, sum } = (() => {
  const NONE = "–";
  const BLOCK = 128;
  const ROUNDING = 1e-9; // as in halftruth.results._standing
  const SHOWN = 0.0005; // as there: what three decimals do not show

  /** The quotient, NaN where the denominator is 0. */
  function ratio(numerator, denominator) {
    return denominator === 0 ? NaN : numerator / denominator;
  }

  /** The value cut at the limits; NaN stays NaN. */
  function clip(value, low, high) {
    return Math.min(Math.max(value, low), high);
  }

  /** Whether a value leaves its limits (null: none), but for rounding. */
  function isBeyond(value, [low, high]) {
    return Number.isFinite(value) && (value < (low ?? -Infinity) - ROUNDING || value > (high ?? Infinity) + ROUNDING);
  }

  /** Whether something of an interval lies within limits (null: none). */
  function reaches(low, high, [least, most]) {
    return low <= (most ?? Infinity) && high >= (least ?? -Infinity);
  }

  /** Sum of values[from … to − 1], in blocks so that rounding does not grow with their number. */
  function sum(values, from = 0, to = values.length) {
    let whole = 0;
    for (let start = from; start < to; start += BLOCK) {
      const end = Math.min(start + BLOCK, to);
      let part = 0;
      for (let i = start; i < end; i++) part += values[i];
      whole += part;
    }
    return whole;
  }

  /** As halftruth.results._estimate.figure: three decimals, or three digits where the number is small. */
  function figure(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return NONE;
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    value = Number(value.toPrecision(12)); // a tie is one whatever the last bits of a sum
    return Math.abs(value) >= 0.01 || value === 0 ? threeDecimals(value) : digits(value, 3);
  }

  /** A share as Python's f"{100 * share:g}%". */
  function percent(share) {
    return share === null || Number.isNaN(share) ? NONE : `${digits(100 * share, 6)}%`;
  }

  function threeDecimals(value) {
    const sign = value < 0 || Object.is(value, -0) ? "-" : "";
    const size = Math.abs(value);
    if (size >= 1e21) return `${sign}${BigInt(size)}.000`; // toFixed gives up there
    // Only odd sixteenths lie halfway between two thousandths: toFixed goes up, Python to the even digit.
    if (size % 0.125 === 0.0625) {
      const down = size.toFixed(4).slice(0, -1);
      if ("02468".includes(down.at(-1))) return sign + down;
    }
    return sign + size.toFixed(3);
  }

  /** So many significant digits, without zeros at the end, as Python's "g". */
  function digits(value, number) {
    if (value === 0) return Object.is(value, -0) ? "-0" : "0";
    const sign = value < 0 ? "-" : "";
    const [mantissa, power] = scientific(Math.abs(value), number);
    const exponent = Number(power);
    const kept = mantissa.replace(".", "").replace(/0+$/, "");
    if (exponent < -4 || exponent >= number) {
      const size = String(Math.abs(exponent)).padStart(2, "0");
      return `${sign}${kept[0]}${kept.length > 1 ? "." : ""}${kept.slice(1)}e${exponent < 0 ? "-" : "+"}${size}`;
    }
    if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${kept}`;
    const whole = kept.slice(0, exponent + 1).padEnd(exponent + 1, "0");
    return sign + whole + (kept.length > exponent + 1 ? `.${kept.slice(exponent + 1)}` : "");
  }

  /** Mantissa and exponent, halves to the even digit. */
  function scientific(size, number) {
    const [exact, power] = size.toExponential(60).split("e");
    const all = exact.replace(".", "");
    const down = /^50*$/.test(all.slice(number)) && "02468".includes(all[number - 1]);
    return down ? [exact.slice(0, number + 1), power] : size.toExponential(number - 1).split("e");
  }

  // Wichura 1988, algorithm AS 241 (PPND16): rational functions near the middle, in the tails and far out.
  const MIDDLE = [
    [
      3.387132872796366608, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
      4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
    ],
    [
      1, 4.2313330701600911252e1, 6.871870074920579083e2, 5.3941960214247511077e3,
      2.1213794301586595867e4, 3.930789580009271061e4, 2.8729085735721942674e4, 5.226495278852854561e3,
    ],
  ];
  const TAIL = [
    [
      1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504,
      1.27045825245236838258, 2.4178072517745061177e-1, 2.27238449892691845833e-2, 7.7454501427834140764e-4,
    ],
    [
      1, 2.05319162663775882187, 1.6763848301838038494, 6.8976733498510000455e-1,
      1.4810397642748007459e-1, 1.51986665636164571966e-2, 5.475938084995344946e-4, 1.05075007164441684324e-9,
    ],
  ];
  const FAR = [
    [
      6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 2.9656057182850489123e-1,
      2.6532189526576123093e-2, 1.2426609473880784386e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
    ],
    [
      1, 5.9983220655588793769e-1, 1.3692988092273580531e-1, 1.48753612908506148525e-2,
      7.868691311456132591e-4, 1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15,
    ],
  ];

  function polynomial(coefficients, x) {
    return coefficients.reduceRight((value, coefficient) => value * x + coefficient);
  }

  function rational([above, below], x) {
    return polynomial(above, x) / polynomial(below, x);
  }

  /** The standard normal's quantile at a probability in (0, 1). */
  function normalQuantile(probability) {
    const q = probability - 0.5;
    if (Math.abs(q) <= 0.425) return q * rational(MIDDLE, 0.180625 - q * q);
    const depth = Math.sqrt(-Math.log(q <= 0 ? probability : 1 - probability));
    const size = depth <= 5 ? rational(TAIL, depth - 1.6) : rational(FAR, depth - 5);
    return q < 0 ? -size : size;
  }

  return { SHOWN, clip, figure, isBeyond, normalQuantile, percent, ratio, reaches, sum };
})();
