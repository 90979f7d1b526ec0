/** Checks of `npm run doctor`: Node, processors, memory, open files and image libraries. */
import fs from 'node:fs/promises';
import os from 'node:os';
import { installedLibraries } from '@lamina/slide';
import type { Config } from '../platform/config.ts';
import { type Finding, gibibytes, note, ok, wrong } from './finding.ts';

/** Memory that an HTTP worker process or a render worker needs (docs/operate.md, section "Sizing"). */
const bytesPerProcess = 512 * 1024 ** 2;
/** A limit of open files that is enough for a thousand viewers with six connections each, and a few files for each open slide. */
const recommendedOpenFiles = 16_384;
/** A limit below this number gives a finding with the state `wrong`. */
const minOpenFiles = 2048;

/** Reports the version of Node and the platform. */
export function checkNode(): Finding {
  const { version } = process;
  return ok('Node', `${version}, ${process.platform} ${process.arch}.`);
}

/** Checks that the machine has enough processors and memory for the setting WORKERS. */
export function checkSize({ workers }: Pick<Config, 'workers'>): Finding[] {
  const cores = os.availableParallelism();
  const containerLimitBytes = process.constrainedMemory(); // 0 without a limit
  const hasContainerLimit = containerLimitBytes > 0 && containerLimitBytes < os.totalmem();
  const memoryBytes = hasContainerLimit ? containerLimitBytes : os.totalmem();
  const neededBytes = bytesPerProcess * (workers + 2); // the HTTP worker processes and two render workers
  const findings: Finding[] = [];
  if (workers > cores) {
    findings.push(
      note(
        'Processors',
        `WORKERS=${workers}, but there are ${cores} processors.`,
        `Set WORKERS to at most ${cores}: more processes than processors only use memory.`,
      ),
    );
  } else findings.push(ok('Processors', `${cores}; HTTP worker processes use up to ${workers}.`));
  findings.push(
    memoryBytes < neededBytes
      ? note(
          'Memory',
          `${gibibytes(memoryBytes)}; ${workers === 1 ? 'one process' : `${workers} processes`} and the render workers may use ${gibibytes(neededBytes)}.`,
          'Give the machine (or the container) more memory, or lower WORKERS.',
        )
      : ok('Memory', `${gibibytes(memoryBytes)}.`),
  );
  return findings;
}

/** Checks that the server may open enough files and connections. */
export async function checkOpenFiles(): Promise<Finding> {
  const limit = await findOpenFileLimit();
  if (limit === null || limit >= recommendedOpenFiles) {
    return ok('Open files', limit === null ? 'No known limit.' : `Up to ${limit}.`);
  }
  const advice =
    'Raise the limit: LimitNOFILE=65536 in a systemd unit, ulimits in a compose file, or `ulimit -n 65536` before the start.';
  const message = `Only ${limit} files and connections may be open at a time (ulimit -n).`;
  return limit < minOpenFiles ? wrong('Open files', message, advice) : note('Open files', message, advice);
}

/** Returns the hard limit of open files, to which Node raises the soft limit; null if there is none or it is unknown. */
async function findOpenFileLimit(): Promise<number | null> {
  const limits = await fs.readFile('/proc/self/limits', 'utf8').catch(() => '');
  const hardLimit = /^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1];
  return hardLimit === undefined ? null : Number(hardLimit);
}

/** Checks the image libraries, and whether Landlock (a Linux security module) can confine the render workers to slides. */
export async function checkLibraries(): Promise<Finding[]> {
  const libraries = await installedLibraries();
  const { libvips, turboJpeg: hasTurboJpeg, openSlide, landlock: landlockVersion } = libraries;
  return [
    libvips === null
      ? wrong(
          'sharp',
          'The image library cannot be loaded: tiles cannot be rendered.',
          'Install the packages again with `npm ci`, including optional ones, on this system (glibc or musl).',
        )
      : ok('sharp', `libvips ${libvips}.`),
    hasTurboJpeg
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
    landlockVersion === 0 // absent
      ? note(
          'Landlock',
          'Not available: a render worker compromised by a malicious slide could read every file of the server’s user.',
          'Use Linux 5.13 or newer with Landlock enabled (`lsm=` at boot), or accept the risk (docs/security.md).',
        )
      : ok('Landlock', `Version ${landlockVersion}: render workers can open only slides.`),
  ];
}
