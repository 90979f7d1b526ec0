import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../platform/config.ts';
import { type Finding, gibibytes, note, ok, reasonOf, within, wrong } from './finding.ts';

const timeoutMs = 10_000;
const littleBytes = 1024 ** 3;
const tooLittleBytes = 100 * 1024 ** 2;

/**
 * File systems on which the embedded database is not safe, or whose contents do not last.
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
const containerLayer = 0x794c7630;

export async function checkSlidesFolder({
  slidesDir,
  objectStore,
}: Pick<Config, 'slidesDir' | 'objectStore'>): Promise<Finding> {
  try {
    const entries = await within(timeoutMs, fs.readdir(slidesDir, { withFileTypes: true }));
    const folders = entries.filter((entry) => entry.isDirectory()).length;
    return ok(
      'Slides',
      `${slidesDir}: ${folders} folders, each a dataset, and ${entries.length - folders} files.`,
    );
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && objectStore !== null)
      return ok('Slides', 'In the bucket only; SLIDES_DIR does not exist.');
    if (isMissing) {
      return note(
        'Slides',
        `SLIDES_DIR=${slidesDir} does not exist.`,
        'Create the folder and put slides into it, or set SLIDES_DIR to their folder. Until then there are demonstration slides.',
      );
    }
    return wrong(
      'Slides',
      `SLIDES_DIR=${slidesDir} cannot be read: ${reasonOf(error)}.`,
      'Give the user that runs Lamina read access to the folder. If it is on the network, check that it is mounted.',
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
    await within(timeoutMs, writeTestFile(dataDir));
  } catch (error) {
    return [
      wrong(
        'Data folder',
        `DATA_DIR=${dataDir} cannot be written: ${reasonOf(error)}.`,
        'Give the folder to the user that runs Lamina, and check that its disk is not full or mounted read-only.',
      ),
    ];
  }
  const { type, bavail, bsize } = await fs.statfs(dataDir);
  const maxCacheBytes = tileCacheBytes + (objectStore === null ? 0 : objectCacheBytes);
  return [
    fileSystemOf(dataDir, type, databaseUrl === null),
    freeSpaceOf(bavail * bsize, maxCacheBytes),
    ...(await privacyOf(dataDir)),
  ];
}

/** Creates the folder like the program, writes a file to the disk, and deletes it. */
async function writeTestFile(folder: string): Promise<void> {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, `.doctor-${randomUUID()}`);
  try {
    await fs.writeFile(file, 'Lamina was here.\n', { flush: true, mode: 0o600 });
  } finally {
    await fs.rm(file, { force: true });
  }
}

function fileSystemOf(dataDir: string, type: number, hasDatabase: boolean): Finding {
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
      `DATA_DIR=${dataDir} is in memory: a restart of the machine deletes it.`,
      'Choose a folder on a disk.',
    );
  }
  if (type === containerLayer) {
    return wrong(
      'Data folder',
      `DATA_DIR=${dataDir} is inside the container: it is deleted with the container.`,
      'Mount a volume there, as deploy/compose.yaml does.',
    );
  }
  return ok('Data folder', `${dataDir} can be written${onNetwork === undefined ? '' : ` (${onNetwork})`}.`);
}

function freeSpaceOf(free: number, maxCacheBytes: number): Finding {
  const says = `${gibibytes(free)} are free; the caches may grow to ${gibibytes(maxCacheBytes)}.`;
  if (free < tooLittleBytes)
    return wrong('Disk', says, 'Free some space now: the server cannot store anything on a full disk.');
  if (free < littleBytes || free < maxCacheBytes) {
    return note('Disk', says, 'Free some space, or lower TILE_CACHE_BYTES (and S3_CACHE_BYTES).');
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
      'Every user of this machine can list DATA_DIR; its files are readable for their owner only.',
      `Restrict it: chmod 700 ${dataDir}`,
    ),
  ];
}
