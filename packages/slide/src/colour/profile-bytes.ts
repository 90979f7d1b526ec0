/** Bounded reads of the bytes of an ICC profile, which may be hostile. All numbers are big-endian. */

/**
 * Why a profile is ignored: `broken` if it contradicts itself or its format, `huge` if it exceeds the size limit, `model` if
 * it does not describe an RGB device.
 */
export type ProfileFault = 'broken' | 'huge' | 'model';

/** An ICC profile cannot be used. */
export class ProfileError extends Error {
  readonly reason: ProfileFault;

  constructor(reason: ProfileFault, message: string) {
    super(message);
    this.name = 'ProfileError';
    this.reason = reason;
  }
}

/** Reads numbers at an offset. Every method throws ProfileError when it would read outside the profile. */
export class ProfileBytes {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get length(): number {
    return this.#bytes.length;
  }

  uint8(at: number): number {
    this.#check(at, 1);
    return this.#view.getUint8(at);
  }

  uint16(at: number): number {
    this.#check(at, 2);
    return this.#view.getUint16(at);
  }

  uint32(at: number): number {
    this.#check(at, 4);
    return this.#view.getUint32(at);
  }

  /** Reads four characters. */
  signature(at: number): string {
    this.#check(at, 4);
    return String.fromCharCode(...this.#bytes.subarray(at, at + 4));
  }

  uint8s(at: number, count: number): Uint8Array {
    this.#check(at, count);
    return this.#bytes.subarray(at, at + count);
  }

  uint16s(at: number, count: number): Uint16Array {
    this.#check(at, count * 2);
    const numbers = new Uint16Array(count);
    for (let index = 0; index < count; index++) numbers[index] = this.#view.getUint16(at + index * 2);
    return numbers;
  }

  /** Reads signed fixed-point numbers with 16 fractional bits (s15Fixed16Number). */
  fixedNumbers(at: number, count: number): number[] {
    this.#check(at, count * 4);
    return Array.from({ length: count }, (_, index) => this.#view.getInt32(at + index * 4) / 0x10000);
  }

  #check(at: number, count: number): void {
    if (!(at >= 0 && count >= 0 && at + count <= this.#bytes.length)) {
      throw new ProfileError('broken', `the profile ends before byte ${at + count}`);
    }
  }
}
