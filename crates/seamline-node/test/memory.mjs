// The memory of a process, round by round.

import assert from "node:assert/strict";

export const ROUNDS = 10;
/** The bytes that the allocator and the compiler may keep after the first rounds. */
const SLACK_BYTES = 24 * 1024 * 1024;

/** The memory after each round of the same work. */
export async function measured(work) {
  const sizes = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await work();
    // JavaScript collects its own garbage first, so that the rest is ours.
    for (let time = 0; time < 3; time += 1) {
      globalThis.gc();
      await new Promise((resolve) => setImmediate(resolve));
    }
    sizes.push(process.memoryUsage().rss);
  }
  return sizes;
}

const median = (sizes) => [...sizes].sort((one, other) => one - other)[Math.floor(sizes.length / 2)];

/** Fails where the second half of the rounds needs more memory than the first half, by more than slack. */
export function assertFlat(sizes) {
  const half = sizes.length / 2;
  const grown = median(sizes.slice(half)) - median(sizes.slice(1, half));
  const shown = sizes.map((size) => `${Math.round(size / 1024 / 1024)} MB`).join(", ");
  assert.ok(grown < SLACK_BYTES, `grew by ${grown} bytes: ${shown}`);
}
