/**
 * How long memory may answer for the database. A second, so that what is taken away in one process is gone in all of
 * them within a second; while the database does not answer, half a minute, since nothing can be taken away then either.
 */

const believedForMs = 1000;
const believedInOutageMs = 30_000;

export interface Belief {
  /** Asks the database something, and notes whether it answers. */
  ask<T>(question: () => Promise<T>): Promise<T>;
  /** Whether what the database answered then may still be taken for true at a moment, both by the same clock. */
  holds(answeredAt: number, at: number): boolean;
}

/** @param clock milliseconds; one that is set back makes everything old */
export function createBelief(clock: () => number): Belief {
  let failedAt: number | null = null;
  let underWay = 0;

  /** The next failure may take its time to come. Until then, and for a second after it, nobody waits for another. */
  function isDown(at: number): boolean {
    return failedAt !== null && (underWay > 0 || Math.abs(at - failedAt) < believedForMs);
  }

  return {
    async ask(question) {
      underWay++;
      try {
        const answer = await question();
        failedAt = null;
        return answer;
      } catch (error) {
        failedAt = clock();
        throw error;
      } finally {
        underWay--;
      }
    },
    holds: (answeredAt, at) => Math.abs(at - answeredAt) < (isDown(at) ? believedInOutageMs : believedForMs),
  };
}
