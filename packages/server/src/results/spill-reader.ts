/** Reads the records of a block from the spill file. Records near each other, as programs write the cells of a tile, are one read. */
import fs from 'node:fs';

interface SpillRecord {
  readonly offset: number;
  readonly length: number;
}

interface SpillReader {
  /** @returns memory that the next call uses again, and where in it each record is */
  read(records: readonly SpillRecord[]): { readonly memory: Buffer; readonly places: readonly number[] };
}

/** Bytes between two records that are read rather than skipped. */
const maxGapBytes = 4096;
const startBytes = 2 ** 18;

export function createSpillReader(file: number): SpillReader {
  let memory = Buffer.allocUnsafe(startBytes);
  return {
    read(records) {
      const inOrder = records.toSorted((a, b) => a.offset - b.offset);
      const runs: { from: number; to: number; place: number }[] = [];
      const placeOf = new Map<number, number>();
      let size = 0;
      for (const { offset, length } of inOrder) {
        let run = runs.at(-1);
        if (run === undefined || offset - run.to > maxGapBytes) {
          if (run !== undefined) size += run.to - run.from;
          run = { from: offset, to: offset, place: size };
          runs.push(run);
        }
        placeOf.set(offset, run.place + offset - run.from);
        run.to = offset + length;
      }
      const last = runs.at(-1);
      if (last !== undefined) size += last.to - last.from;
      if (size > memory.length) memory = Buffer.allocUnsafe(Math.max(size, memory.length * 2));
      for (const { from, to, place } of runs) fill(memory, place, from, to - from);
      return { memory, places: records.map(({ offset }) => placeOf.get(offset) as number) };
    },
  };

  function fill(target: Buffer, place: number, offset: number, length: number): void {
    for (let at = 0; at < length; ) {
      const read = fs.readSync(file, target, place + at, length - at, offset + at);
      if (read === 0) throw new Error('A spill file ends early.');
      at += read;
    }
  }
}
