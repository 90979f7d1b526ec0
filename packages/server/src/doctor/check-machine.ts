/** Node, processors, memory, open files, and the libraries that read pictures. */
import fs from 'node:fs/promises';
import os from 'node:os';
import { installedLibraries } from '@lamina/slide';
import type { Config } from '../config.ts';
import { type Finding, gibibytes, note, ok, wrong } from './finding.ts';

/** Memory for each process that answers, and for those that make tiles: docs/operate.md, "How large". */
const bytesOfProcess = 512 * 1024 ** 2;
/** Each of a thousand viewers has six connections, each open slide a few files. */
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
        `Set WORKERS to ${Math.max(1, cores - 1)} at most: more processes only take memory.`,
      ),
    );
  } else findings.push(ok('Processors', `${cores}, of which ${workers} may be taken by answering.`));
  findings.push(
    memory < needed
      ? note(
          'Memory',
          `${gibibytes(memory)}; ${workers === 1 ? 'one process' : `${workers} processes`} and those that make tiles may take ${gibibytes(needed)}.`,
          'Give the machine (or the container) more memory, or set WORKERS lower.',
        )
      : ok('Memory', `${gibibytes(memory)}.`),
  );
  return findings;
}

export async function checkOpenFiles(): Promise<Finding> {
  const most = await mostOpenFiles();
  if (most === null || most >= enoughFiles) {
    return ok('Open files', most === null ? 'No limit that can be read.' : `Up to ${most}.`);
  }
  const advice =
    'Raise the limit: LimitNOFILE=65536 in a systemd unit, ulimits in a compose file, or `ulimit -n 65536` before the start.';
  const says = `Only ${most} files and connections may be open at a time (ulimit -n).`;
  return most < fewFiles ? wrong('Open files', says, advice) : note('Open files', says, advice);
}

/** Node raises the soft limit to the hard one by itself. Null where there is none, or it cannot be told. */
async function mostOpenFiles(): Promise<number | null> {
  const limits = await fs.readFile('/proc/self/limits', 'utf8').catch(() => '');
  const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1];
  return hard === undefined ? null : Number(hard);
}

export async function checkLibraries(): Promise<Finding[]> {
  const { sharp, turboJpeg, openSlide } = await installedLibraries();
  return [
    sharp === null
      ? wrong(
          'sharp',
          'The library that decodes pictures cannot be loaded: no tile can be made.',
          'Install the packages again with `npm ci`, without leaving out optional ones, on this very system (glibc or musl).',
        )
      : ok('sharp', `libvips ${sharp}.`),
    turboJpeg
      ? ok('libjpeg-turbo', 'Is there: tiles are made three times as fast.')
      : note(
          'libjpeg-turbo',
          'Is not there: tiles between the levels of a file take about three times as long to make.',
          'Install the packages again with `npm ci`, or libturbojpeg of the system (Debian: libturbojpeg0).',
        ),
    openSlide === null
      ? note(
          'OpenSlide',
          'Is not there. Aperio, DICOM, Zeiss, Hamamatsu, Philips and others are read without it; docs/formats says which are not.',
          'If you have such slides, install it (Debian: libopenslide0); no setting is needed.',
        )
      : ok('OpenSlide', `${openSlide}.`),
  ];
}
