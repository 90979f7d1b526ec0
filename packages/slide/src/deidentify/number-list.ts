/** A growing list of numbers in a typed array. A slide may have millions of tiles, and an object for each would exhaust memory. */
export class NumberList {
  #numbers = new Float64Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const longer = new Float64Array(2 * this.#length);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[this.#length++] = number;
  }

  /** Returns the last number; −Infinity for an empty list. */
  last(): number {
    return this.#numbers[this.#length - 1] ?? Number.NEGATIVE_INFINITY;
  }

  /** Replaces the last number of a list that is not empty. */
  replaceLast(number: number): void {
    this.#numbers[this.#length - 1] = number;
  }

  /** Returns a copy in ascending order. */
  sorted(): Float64Array {
    return this.#numbers.slice(0, this.#length).sort();
  }
}
