/**
 * The clock of a server process, to be set by its test: SIGUSR2 makes it take over the number of milliseconds that a
 * file says, and remove the file. Loaded before the program by `--import`; steady clocks and timers go on as they do on a real machine.
 */
import { readFileSync, rmSync } from 'node:fs';

const RealDate = Date;
let shiftMs = 0;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shiftMs);
    else super(...args);
  }
  static now() {
    return RealDate.now() + shiftMs;
  }
};

process.on('SIGUSR2', () => {
  shiftMs = Number(readFileSync(process.env.CLOCK_SHIFT_FILE, 'utf8'));
  rmSync(process.env.CLOCK_SHIFT_FILE);
});
