/**
 * Reads the records of a block (objects near each other on the slide) from the spill file, the temporary file of an import. Records
 * near each other in the file are read with one call; most programs write the cells of a small area one after the other.
 */
import fs from 'node:fs';

interface SpillRecord {
  readonly offset: number; // in the spill file, in bytes
  readonly length: number; // in bytes
}

interface SpillReader {
  /** Reads records. Returns memory, which the next call overwrites, and the offset of each record in this memory. */
  read(records: readonly SpillRecord[]): { readonly memory: Buffer; readonly offsets: readonly number[] };
}

/** Records with a gap of at most this size between them are read with one call, because a second call would take longer. */
const maxGapBytes = 4096;
const initialMemoryBytes = 2 ** 18;

/** Creates a reader. @param file descriptor of the spill file */
export function createSpillReader(file: number): SpillReader {
  let memory = Buffer.allocUnsafe(initialMemoryBytes);
  return {
    read(records) {
      const byOffset = records.toSorted((a, b) => a.offset - b.offset);
      // A run is a range of the file that is read with one call. The runs are stored one after the other in the memory.
      const runs: { start: number; end: number; memoryOffset: number }[] = [];
      const memoryOffsets = new Map<number, number>();
      let totalRunBytes = 0; // without the last run, whose size is added after the loop
      for (const { offset, length } of byOffset) {
        let run = runs.at(-1);
        if (run === undefined || offset - run.end > maxGapBytes) {
          if (run !== undefined) totalRunBytes += run.end - run.start;
          run = { start: offset, end: offset, memoryOffset: totalRunBytes };
          runs.push(run);
        }
        memoryOffsets.set(offset, run.memoryOffset + offset - run.start);
        run.end = offset + length;
      }
      const lastRun = runs.at(-1);
      if (lastRun !== undefined) totalRunBytes += lastRun.end - lastRun.start;
      if (totalRunBytes > memory.length)
        memory = Buffer.allocUnsafe(Math.max(totalRunBytes, memory.length * 2));
      for (const { start, end, memoryOffset } of runs) readRange(memory, memoryOffset, start, end - start);
      return { memory, offsets: records.map(({ offset }) => memoryOffsets.get(offset) as number) };
    },
  };

  function readRange(target: Buffer, targetOffset: number, offset: number, length: number): void {
    let filled = 0;
    while (filled < length) {
      const bytesRead = fs.readSync(file, target, targetOffset + filled, length - filled, offset + filled);
      if (bytesRead === 0) throw new Error('A spill file ends early.');
      filled += bytesRead;
    }
  }
}
