/**
 * Replaces `Date` in a server process so that a test can set the wall clock. Node loads this module before the server
 * (`--import`).
 *
 * On SIGUSR2 the process reads the shift in milliseconds from the file CLOCK_SHIFT_FILE. It then removes the file, which shows the test
 * that the shift is in effect. Monotonic clocks and timers are not affected, as on a real machine whose clock is set.
 */
import { readFileSync, rmSync } from 'node:fs';

const { CLOCK_SHIFT_FILE: shiftFile = '' } = process.env;
const RealDate = Date;
let shiftMs = 0;

const now = (): number => RealDate.now() + shiftMs;

globalThis.Date = class extends RealDate {
  /** Without arguments the date is the current time; with arguments it does not depend on the clock. */
  constructor(...args: unknown[]) {
    super(...((args.length === 0 ? [now()] : args) as [number]));
  }
  static override now(): number {
    return now();
  }
} as DateConstructor;

process.on('SIGUSR2', () => {
  shiftMs = Number(readFileSync(shiftFile, 'utf8'));
  rmSync(shiftFile);
});
