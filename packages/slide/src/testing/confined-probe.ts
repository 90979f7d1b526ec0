/**
 * A program that runs in place of a render process, with its confinement. On request it attempts what a compromised
 * process would attempt, and replies with the error code, or with null when the attempt succeeded.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import sharp from 'sharp';

/** An attempt that a test requests. `read` reads in the main thread, `read in pool` in the thread pool of Node. */
export type ProbeQuestion =
  | {
      readonly kind: 'read' | 'read in pool' | 'list' | 'write' | 'run';
      readonly path: string;
    }
  | { readonly kind: 'read through a link'; readonly path: string; readonly link: string }
  | { readonly kind: 'connect'; readonly port: number }
  | { readonly kind: 'signal'; readonly processId: number }
  | { readonly kind: 'allocate'; readonly bytes: number }
  | { readonly kind: 'draw'; readonly picture: Uint8Array };

export interface ProbeAnswer {
  /** Code or message of the error; null when the attempt succeeded. */
  readonly code: string | null;
}

async function attempt(question: ProbeQuestion): Promise<unknown> {
  switch (question.kind) {
    case 'read':
      return readFileSync(question.path);
    case 'read in pool':
      return readFile(question.path);
    case 'list':
      return readdirSync(question.path);
    case 'write':
      return writeFileSync(question.path, 'written');
    case 'run': {
      const { error } = spawnSync(question.path);
      if (error) throw error;
      return null;
    }
    case 'read through a link':
      symlinkSync(question.path, question.link);
      return readFileSync(question.link);
    case 'connect':
      return new Promise((resolve, reject) => {
        connect(question.port, '127.0.0.1').once('connect', resolve).once('error', reject);
      });
    case 'signal':
      return process.kill(question.processId, 'SIGCONT'); // has no effect on a running process
    case 'allocate':
      return allocate(question.bytes);
    case 'draw':
      return sharp(question.picture, { unlimited: true }).raw().toBuffer();
  }
}

/** References to the allocated memory, so that it is not freed. */
const allocated: Buffer[] = [];

function allocate(bytes: number): void {
  const pieceBytes = 8 * 2 ** 20;
  // Fills the memory with 1, because the operating system assigns memory only when a process writes to it.
  for (let done = 0; done < bytes; done += pieceBytes) allocated.push(Buffer.alloc(pieceBytes, 1));
}

process.on('message', (question: ProbeQuestion) => {
  void attempt(question).then(
    () => process.send?.({ code: null }),
    (error: NodeJS.ErrnoException) => process.send?.({ code: error.code ?? error.message }),
  );
});
process.on('disconnect', () => process.exit());
process.send?.({ isReady: true });
