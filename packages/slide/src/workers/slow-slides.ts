/** The slides whose tiles take long. A few requests for their tiles must not occupy all render processes. */

/** A slide whose last tile took at least this time counts as slow until one of its tiles is faster. */
const SLOW_MS = 2000;
/** Maximum number of slow slides. Above it, the one that was recorded first counts as fast again. */
const MAX_SLOW_SLIDES = 1000;

export class SlowSlides {
  /** Paths of the slides, in the order in which they were recorded. */
  readonly #paths = new Set<string>();

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /**
   * Records how long the job of a tile ran.
   *
   * @param isCompleted false when the job failed or was cancelled; if it was short, it does not show that the slide is fast
   */
  recordTile(path: string, durationMs: number, isCompleted: boolean): void {
    const isSlow = durationMs >= SLOW_MS;
    if (!isSlow && !isCompleted) return;
    this.#paths.delete(path);
    if (!isSlow) return;
    this.#paths.add(path);
    const [oldest] = this.#paths;
    if (this.#paths.size > MAX_SLOW_SLIDES && oldest !== undefined) this.#paths.delete(oldest);
  }
}
