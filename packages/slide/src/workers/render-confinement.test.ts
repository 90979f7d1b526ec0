/** Checks what an attacker's code in a render process could reach: only slides, the program's own files and its folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { landlockVersion } from '../confinement/landlock.ts';
import { loadSystemCalls } from '../confinement/system-calls.ts';
import type { ProbeReply, ProbeRequest } from '../testing/confined-probe.ts';
import { expensiveSvg } from '../testing/hostile-pictures.ts';
import { confinementOf, type RenderAccess, startConfined } from './start-render-process.ts';

vi.setConfig({ testTimeout: 60_000 });

const calls = await loadSystemCalls();
const version = calls ? landlockVersion(calls) : 0;
const program = fileURLToPath(new URL('../testing/confined-probe.ts', import.meta.url));
const CANARY = 'canary-of-the-server';

let folder: string;
/** A program with a secret in its environment, like the server. */
let processWithSecret: ChildProcess;
let listener: Server;
const probes: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'confinement-'));
  for (const name of ['slides/a', 'slides/b', 'data', 'scratch']) {
    await mkdir(join(folder, name), { recursive: true });
  }
  await writeFile(join(folder, 'slides/a/slide.tif'), 'a');
  await writeFile(join(folder, 'slides/b/slide.tif'), 'b');
  await writeFile(join(folder, 'data/secret.key'), CANARY);
  await symlink(join(folder, 'data/secret.key'), join(folder, 'slides/a/link.tif'));
  processWithSecret = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], {
    env: { SECRET_KEY: CANARY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(processWithSecret.stdout as NodeJS.ReadableStream, 'data');
  listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
});
afterEach(() => {
  for (const probe of probes.splice(0)) probe.kill('SIGKILL');
});
afterAll(async () => {
  processWithSecret.kill('SIGKILL');
  listener.close();
  await rm(folder, { recursive: true });
});

async function startProbe(access: RenderAccess): Promise<ChildProcess> {
  const confinement = confinementOf({ compiledFolder: null }, access, join(folder, 'scratch'));
  const probe = startConfined({ ...confinement, program });
  probes.push(probe);
  await once(probe, 'message');
  return probe;
}

async function ask(probe: ChildProcess, request: ProbeRequest): Promise<string | null> {
  const reply = once(probe, 'message') as Promise<[ProbeReply]>;
  const ended = once(probe, 'exit') as Promise<[number | null, string | null]>;
  probe.send(request);
  const [firstMessage] = await Promise.race([
    reply,
    ended.then(([code, signal]): [ProbeReply] => [{ code: `ended: ${code ?? signal}` }]),
  ]);
  return firstMessage.code;
}

const sharedAccess = (): RenderAccess => ({ kind: 'shared', slides: [join(folder, 'slides')] });
const port = () => (listener.address() as { port: number }).port;

describe.skipIf(version === 0)(
  'a render process confined by Landlock (a sandbox of the Linux kernel)',
  () => {
    it('reads slides and writes in its own folder', async () => {
      const probe = await startProbe(sharedAccess());
      expect(await ask(probe, { kind: 'read', path: join(folder, 'slides/a/slide.tif') })).toBeNull();
      expect(await ask(probe, { kind: 'write', path: join(folder, 'scratch/tile') })).toBeNull();
    });

    it('cannot read a secret in the environment of the server', async () => {
      const path = `/proc/${processWithSecret.pid}/environ`;
      expect(await readFile(path, 'utf8')).toContain(CANARY);
      const probe = await startProbe(sharedAccess());
      for (const kind of ['read', 'read in pool'] as const) {
        expect(await ask(probe, { kind, path }), kind).toBe('EACCES');
      }
    });

    it('cannot read a file outside the slide folders, not even through links', async () => {
      const probe = await startProbe(sharedAccess());
      const secret = join(folder, 'data/secret.key');
      for (const kind of ['read', 'read in pool'] as const) {
        expect(await ask(probe, { kind, path: secret }), kind).toBe('EACCES');
      }
      expect(await ask(probe, { kind: 'list', path: join(folder, 'data') })).toBe('EACCES');
      expect(await ask(probe, { kind: 'read', path: join(folder, 'slides/a/link.tif') })).toBe('EACCES');
      const link = join(folder, 'scratch/link');
      expect(await ask(probe, { kind: 'read through a link', path: secret, link })).toBe('EACCES');
    });

    it('cannot write to slides, open TCP connections, send signals to the server or run other programs', async () => {
      const probe = await startProbe(sharedAccess());
      const path = join(folder, 'slides/a/slide.tif');
      expect(await ask(probe, { kind: 'write', path })).toBe('EACCES');
      expect(await ask(probe, { kind: 'write', path: join(folder, 'slides/a/new.tif') })).toBe('EACCES');
      // Landlock restricts TCP from version 4, and signals from version 6.
      if (version >= 4) expect(await ask(probe, { kind: 'connect', port: port() })).toBe('EACCES');
      if (version >= 6) {
        expect(await ask(probe, { kind: 'signal', processId: processWithSecret.pid as number })).toBe(
          'EPERM',
        );
      }
      expect(await ask(probe, { kind: 'run', path: '/bin/true' })).toBe('EACCES');
    });

    it('that was started for a single slide cannot read another slide', async () => {
      const probe = await startProbe({ kind: 'own', slides: [join(folder, 'slides/a/slide.tif')] });
      expect(await ask(probe, { kind: 'read', path: join(folder, 'slides/a/slide.tif') })).toBeNull();
      expect(await ask(probe, { kind: 'read', path: join(folder, 'slides/b/slide.tif') })).toBe('EACCES');
    });
  },
);

describe.skipIf(calls === null)('the memory of a render process', () => {
  async function peakMemoryOf(probe: ChildProcess, request: ProbeRequest): Promise<number> {
    let peakBytes = 0;
    const sample = async () => {
      const status = await readFile(`/proc/${probe.pid}/status`, 'utf8').catch(() => '');
      peakBytes = Math.max(peakBytes, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024);
    };
    const watch = setInterval(() => void sample(), 5);
    expect(await ask(probe, request)).not.toBeNull();
    clearInterval(watch);
    return peakBytes;
  }

  it('is limited by the kernel: a process that tries to allocate 3 GB ends with a peak below 600 MB', async () => {
    const probe = await startProbe(sharedAccess());
    expect(await peakMemoryOf(probe, { kind: 'allocate', bytes: 3e9 })).toBeLessThan(600e6);
  });

  it('is limited for C libraries too: drawing an SVG that needs 3.1 GB ends with a peak below 600 MB', async () => {
    const probe = await startProbe(sharedAccess());
    const picture = expensiveSvg(256, 28_000);
    expect(await peakMemoryOf(probe, { kind: 'draw', picture })).toBeLessThan(600e6);
  });
});
