import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import { type Finding, gibibytes, note, ok, reasonOf, within, wrong } from './finding.ts';

const answersWithinMs = 10_000;
const littleBytes = 1024 ** 3;
const tooLittleBytes = 100 * 1024 ** 2;

/**
 * File systems on which the embedded database is not safe, or what is written is soon gone.
 * Source: statfs(2), and include/uapi/linux/magic.h of Linux 6.1.
 */
const network: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x01021997, '9P'],
]);
const inMemory = 0x01021994;
const ofContainer = 0x794c7630;

export async function checkSlidesFolder({
  slidesDir,
  objectStore,
}: Pick<Config, 'slidesDir' | 'objectStore'>): Promise<Finding> {
  try {
    const entries = await within(answersWithinMs, fs.readdir(slidesDir, { withFileTypes: true }));
    const folders = entries.filter((entry) => entry.isDirectory()).length;
    return ok(
      'Slides',
      `${slidesDir}: ${folders} folders, each a dataset, and ${entries.length - folders} files.`,
    );
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && objectStore !== null)
      return ok('Slides', 'In the bucket alone; there is no SLIDES_DIR.');
    if (isMissing) {
      return note(
        'Slides',
        `SLIDES_DIR=${slidesDir} is not there.`,
        'Make the folder and put slides into it, or set SLIDES_DIR to where they are. Until then there are demonstration slides.',
      );
    }
    return wrong(
      'Slides',
      `SLIDES_DIR=${slidesDir} cannot be read: ${reasonOf(error)}.`,
      'Let the user that runs Lamina read the folder and what is in it. If it is on the network, see that it is mounted.',
    );
  }
}

export async function checkDataFolder({
  dataDir,
  databaseUrl,
  tileCacheBytes,
  objectStore,
  objectCacheBytes,
}: Pick<Config, 'dataDir' | 'databaseUrl' | 'tileCacheBytes' | 'objectStore' | 'objectCacheBytes'>): Promise<
  Finding[]
> {
  try {
    await within(answersWithinMs, writeAndForget(dataDir));
  } catch (error) {
    return [
      wrong(
        'Data folder',
        `DATA_DIR=${dataDir} cannot be written: ${reasonOf(error)}.`,
        'Give the folder to the user that runs Lamina, and see that its disk is not full and not mounted read-only.',
      ),
    ];
  }
  const { type, bavail, bsize } = await fs.statfs(dataDir);
  const wanted = tileCacheBytes + (objectStore === null ? 0 : objectCacheBytes);
  return [
    placeOf(dataDir, type, databaseUrl === null),
    roomOf(bavail * bsize, wanted),
    ...(await privacyOf(dataDir)),
  ];
}

/** Makes the folder as the program would, writes a file to the disk, and removes it. */
async function writeAndForget(folder: string): Promise<void> {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, `.doctor-${randomUUID()}`);
  try {
    await fs.writeFile(file, 'Lamina was here.\n', { flush: true, mode: 0o600 });
  } finally {
    await fs.rm(file, { force: true });
  }
}

function placeOf(dataDir: string, type: number, hasDatabase: boolean): Finding {
  const onNetwork = network.get(type >>> 0);
  if (onNetwork !== undefined && hasDatabase) {
    return wrong(
      'Data folder',
      `DATA_DIR=${dataDir} is on a network file system (${onNetwork}), where SQLite is not safe.`,
      'Keep DATA_DIR on a disk of this machine, or use PostgreSQL (DATABASE_URL).',
    );
  }
  if (type === inMemory) {
    return wrong(
      'Data folder',
      `DATA_DIR=${dataDir} is in memory: everything in it is gone after a restart of the machine.`,
      'Choose a folder on a disk.',
    );
  }
  if (type === ofContainer) {
    return wrong(
      'Data folder',
      `DATA_DIR=${dataDir} is in the container itself: it is gone when the container is made anew.`,
      'Mount a volume there, as deploy/compose.yaml does.',
    );
  }
  return ok('Data folder', `${dataDir} can be written${onNetwork === undefined ? '' : ` (${onNetwork})`}.`);
}

function roomOf(free: number, wanted: number): Finding {
  const says = `${gibibytes(free)} are free; the caches may grow to ${gibibytes(wanted)}.`;
  if (free < tooLittleBytes)
    return wrong('Disk', says, 'Free some space now: nothing can be stored on a full disk.');
  if (free < littleBytes || free < wanted) {
    return note('Disk', says, 'Free some space, or set TILE_CACHE_BYTES (and S3_CACHE_BYTES) lower.');
  }
  return ok('Disk', says);
}

async function privacyOf(dataDir: string): Promise<Finding[]> {
  if (process.platform === 'win32') return [];
  const { mode } = await fs.stat(dataDir);
  if ((mode & 0o007) === 0) return [];
  return [
    note(
      'Data folder',
      'Every user of this machine can look into DATA_DIR; files in it are still for their owner alone.',
      `Close it: chmod 700 ${dataDir}`,
    ),
  ];
}
