import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLog } from './log.ts';

const isLinux = process.platform === 'linux';
const waitOptions = { timeout: 60_000, interval: 10 };

/** Opens a pipe that is not read until `read` is called. */
function stuckPipe() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-log-'));
  const file = path.join(folder, 'pipe');
  execFileSync('mkfifo', [file]);
  // Opened for reading and writing, so that opening does not block.
  const { O_RDWR, O_NONBLOCK } = fs.constants;
  const fd = fs.openSync(file, O_RDWR | O_NONBLOCK);
  onTestFinished(() => {
    fs.closeSync(fd);
    fs.rmSync(folder, { recursive: true });
  });
  const buffer = Buffer.alloc(1024 * 1024);
  return {
    fd,
    /** Returns everything that is in the pipe now. */
    read(): string {
      try {
        return buffer.toString('utf8', 0, fs.readSync(fd, buffer));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return '';
        throw error;
      }
    },
  };
}

describe.skipIf(!isLinux)('createLog (server log)', () => {
  it('omits the URL of the error `Invalid URL`', async () => {
    const pipe = stuckPipe();
    const { log } = createLog({ level: 'info', fd: pipe.fd });
    try {
      new URL('http://[/iiif/session/secret');
    } catch (err) {
      log.error({ err }, 'one');
    }
    let text = '';
    await vi.waitFor(() => {
      text += pipe.read();
      expect(text).toMatch(/one.*\n$/);
    }, waitOptions);
    expect(text).toContain('ERR_INVALID_URL');
    expect(text).not.toContain('secret');
  });

  it('writes one JSON object per line, in order, and omits lines below the log level', async () => {
    const pipe = stuckPipe();
    const { log, lostLines } = createLog({ level: 'info', fd: pipe.fd });
    log.info({ route: '/a' }, 'one');
    log.debug('below the level');
    log.warn('two');
    let text = '';
    await vi.waitFor(() => {
      text += pipe.read();
      expect(text).toMatch(/two.*\n$/);
    }, waitOptions);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { level: 30, route: '/a', msg: 'one', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string },
      { level: 40, msg: 'two' },
    ]);
    expect(lostLines()).toBe(0);
  });

  it('queues lines up to a limit while the log reader is blocked, then drops and counts further lines', async () => {
    const pipe = stuckPipe();
    const { log, lostLines } = createLog({ level: 'info', fd: pipe.fd, maxQueuedBytes: 200_000 });
    // A pipe buffers 64 KiB by itself; each line is about a kilobyte.
    const line = 'x'.repeat(1000);
    for (let i = 0; i < 1000; i++) log.info({ i }, line);
    const lost = lostLines();
    expect(lost).toBeGreaterThan(600);
    expect(lost).toBeLessThan(1000);

    // When the reader continues, the queued lines arrive complete and in order.
    let text = '';
    await vi.waitFor(() => {
      text += pipe.read();
      expect(text.split('\n').length - 1).toBe(1000 - lost);
    }, waitOptions);
    const numbers = text
      .trimEnd()
      .split('\n')
      .map((json) => (JSON.parse(json) as { i: number }).i);
    expect(numbers).toEqual(Array.from({ length: 1000 - lost }, (_, i) => i));
    log.info('again');
    await vi.waitFor(() => expect(pipe.read()).toContain('again'), waitOptions);
  });

  it('drops and counts lines above the queue limit while the disk is full, without throwing an error', async () => {
    // Stays open: the log retries its queued lines until the process ends, and a later file or socket may get a closed descriptor.
    const full = fs.openSync('/dev/full', 'w');
    const { log, lostLines } = createLog({ level: 'info', fd: full, maxQueuedBytes: 10_000 });
    for (let i = 0; i < 200; i++) log.info('x'.repeat(100));
    await vi.waitFor(() => expect(lostLines()).toBeGreaterThan(100), waitOptions);
    log.info('and on');
    expect(lostLines()).toBeLessThan(201);
  });
});
