/**
 * A program that runs in place of a render process, under the same confinement. On request it attempts what a
 * compromised process would attempt, and replies with the error code, or with null when the attempt succeeded.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import sharp from 'sharp';

/** An attempt that a test requests. `read` runs in the main thread, `read in pool` in the thread pool of Node. */
export type ProbeRequest =
  | {
      readonly kind: 'read' | 'read in pool' | 'list' | 'write' | 'run';
      readonly path: string;
    }
  | { readonly kind: 'read through a link'; readonly path: string; readonly link: string }
  | { readonly kind: 'connect'; readonly port: number }
  | { readonly kind: 'signal'; readonly processId: number }
  | { readonly kind: 'allocate'; readonly bytes: number }
  | { readonly kind: 'draw'; readonly picture: Uint8Array };

export interface ProbeReply {
  /** Code or message of the error; null when the attempt succeeded. */
  readonly code: string | null;
}

async function attempt(request: ProbeRequest): Promise<unknown> {
  switch (request.kind) {
    case 'read':
      return readFileSync(request.path);
    case 'read in pool':
      return readFile(request.path);
    case 'list':
      return readdirSync(request.path);
    case 'write':
      return writeFileSync(request.path, 'written');
    case 'run': {
      const { error } = spawnSync(request.path);
      if (error) throw error;
      return null;
    }
    case 'read through a link':
      symlinkSync(request.path, request.link);
      return readFileSync(request.link);
    case 'connect':
      return new Promise((resolve, reject) => {
        connect(request.port, '127.0.0.1').once('connect', resolve).once('error', reject);
      });
    case 'signal':
      return process.kill(request.processId, 'SIGCONT'); // has no effect on a running process
    case 'allocate':
      return allocate(request.bytes);
    case 'draw':
      return sharp(request.picture, { unlimited: true }).raw().toBuffer();
  }
}

/** References to the allocated memory, so that it is not freed. */
const allocated: Buffer[] = [];

function allocate(bytes: number): void {
  const pieceBytes = 8 * 2 ** 20;
  // Fills the memory with 1, because the operating system assigns memory only when a process writes to it.
  for (let done = 0; done < bytes; done += pieceBytes) allocated.push(Buffer.alloc(pieceBytes, 1));
}

process.on('message', (request: ProbeRequest) => {
  void attempt(request).then(
    () => process.send?.({ code: null }),
    (error: NodeJS.ErrnoException) => process.send?.({ code: error.code ?? error.message }),
  );
});
process.on('disconnect', () => process.exit());
process.send?.({ isReady: true }); // requests are sent only after this message
