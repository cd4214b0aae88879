"use strict";
// The browser computes these again when the target moves; a test compares them with mfbench.
const mf = { store: {} };

// Data files call this: mf.data("board", [...]).
mf.data = (name, value) => { mf.store[name] = value; };

// Clock of the first evaluated point at or beyond the target; null if none is. Nothing is
// interpolated; points whose clock or value is unknown are passed over.
mf.timeToTarget = (clock, values, target, lessIsBetter) => {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || clock[i] === null) continue;
    if (lessIsBetter ? value <= target : value >= target) return clock[i];
  }
  return null;
};

// Epochs of the first evaluated point at the target and of the one before it, of the median seed among
// those that got there (the seeds as {epoch, [metric]}); null where none did. As Python's groups.met.
mf.metAt = (seeds, metric, target, lessIsBetter) => {
  const found = [];
  for (const seed of seeds) {
    const epoch = mf.timeToTarget(seed.epoch, seed[metric], target, lessIsBetter);
    if (epoch === null) continue;
    const before = seed.epoch.filter((e) => e !== null && e < epoch);
    found.push({ epoch, before: Math.max(0, ...before) });
  }
  found.sort((a, b) => a.epoch - b.epoch || a.before - b.before);
  return found[(found.length - 1) >> 1] || null;
};

// Median of times, one that never got there (null) counting as infinitely late; null where the
// median is infinite, and of none.
mf.censoredMedian = (times) => {
  const sorted = times.map((t) => (t === null ? Infinity : t)).sort((a, b) => a - b);
  if (!sorted.length) return null;
  const half = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return Number.isFinite(median) ? median : null;
};