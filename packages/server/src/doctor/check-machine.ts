/** Checks Node, processors, memory, open files and image libraries. */
import fs from 'node:fs/promises';
import os from 'node:os';
import { installedLibraries } from '@lamina/slide';
import type { Config } from '../platform/config.ts';
import { type Finding, gibibytes, note, ok, wrong } from './finding.ts';

/** Memory per serving process and per render worker: docs/operate.md, "How large". */
const bytesOfProcess = 512 * 1024 ** 2;
/** A thousand viewers have six connections each, and each open slide has a few files. */
const enoughFiles = 16_384;
const fewFiles = 2048;

export function checkNode(): Finding {
  const { version } = process;
  return ok('Node', `${version}, ${process.platform} ${process.arch}.`);
}

export function checkSize({ workers }: Pick<Config, 'workers'>): Finding[] {
  const cores = os.availableParallelism();
  const limit = process.constrainedMemory();
  const memory = limit > 0 && limit < os.totalmem() ? limit : os.totalmem();
  const needed = bytesOfProcess * (workers + 2);
  const findings: Finding[] = [];
  if (workers > cores) {
    findings.push(
      note(
        'Processors',
        `WORKERS=${workers}, but there are ${cores} processors.`,
        `Set WORKERS to at most ${Math.max(1, cores - 1)}: more processes only use memory.`,
      ),
    );
  } else findings.push(ok('Processors', `${cores}; serving processes use up to ${workers}.`));
  findings.push(
    memory < needed
      ? note(
          'Memory',
          `${gibibytes(memory)}; ${workers === 1 ? 'one process' : `${workers} processes`} and the render workers may use ${gibibytes(needed)}.`,
          'Give the machine (or the container) more memory, or lower WORKERS.',
        )
      : ok('Memory', `${gibibytes(memory)}.`),
  );
  return findings;
}

export async function checkOpenFiles(): Promise<Finding> {
  const most = await mostOpenFiles();
  if (most === null || most >= enoughFiles) {
    return ok('Open files', most === null ? 'No known limit.' : `Up to ${most}.`);
  }
  const advice =
    'Raise the limit: LimitNOFILE=65536 in a systemd unit, ulimits in a compose file, or `ulimit -n 65536` before the start.';
  const says = `Only ${most} files and connections may be open at a time (ulimit -n).`;
  return most < fewFiles ? wrong('Open files', says, advice) : note('Open files', says, advice);
}

/** Returns the hard limit, to which Node raises the soft limit; null when there is none or it is unknown. */
async function mostOpenFiles(): Promise<number | null> {
  const limits = await fs.readFile('/proc/self/limits', 'utf8').catch(() => '');
  const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1];
  return hard === undefined ? null : Number(hard);
}

export async function checkLibraries(): Promise<Finding[]> {
  const { sharp, turboJpeg, openSlide, landlock } = await installedLibraries();
  return [
    sharp === null
      ? wrong(
          'sharp',
          'The image library cannot be loaded: tiles cannot be rendered.',
          'Install the packages again with `npm ci`, including optional ones, on this system (glibc or musl).',
        )
      : ok('sharp', `libvips ${sharp}.`),
    turboJpeg
      ? ok('libjpeg-turbo', 'Installed: rendering is three times as fast.')
      : note(
          'libjpeg-turbo',
          'Not installed: rendering tiles takes about three times as long.',
          'Install the packages again with `npm ci`, or libturbojpeg of the system (Debian: libturbojpeg0).',
        ),
    openSlide === null
      ? note(
          'OpenSlide',
          'Not installed. Aperio, DICOM, Zeiss, Hamamatsu, Philips and others do not need it; docs/formats lists the formats that do.',
          'If you have such slides, install it (Debian: libopenslide0); no setting is needed.',
        )
      : ok('OpenSlide', `${openSlide}.`),
    landlock === 0
      ? note(
          'Landlock',
          'Not available: a render worker compromised by a malicious slide could read every file of the server’s user.',
          'Use Linux 5.13 or newer with Landlock enabled (`lsm=` at boot), or accept the risk (docs/security.md).',
        )
      : ok('Landlock', `Version ${landlock}: render workers can open only slides.`),
  ];
}
