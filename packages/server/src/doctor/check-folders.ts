/** Checks of `npm run doctor`: access to the slide folder and the data folder, file system, free space and permissions. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../platform/config.ts';
import { type Finding, gibibytes, note, ok, reasonOf, withTimeout, wrong } from './finding.ts';

const timeoutMs = 10_000;
// With less free space than this, the finding has the state `note` or `wrong`.
const noteBelowBytes = 1024 ** 3;
const wrongBelowBytes = 100 * 1024 ** 2;

/**
 * Network file systems, on which the embedded database is not safe, by the type that `statfs` returns. Source of the types:
 * statfs(2), and include/uapi/linux/magic.h of Linux 6.1.
 */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x01021997, '9P'],
]);
// `statfs` types of file systems whose contents are lost: tmpfs at a restart of the machine, overlayfs with the container.
const tmpfsType = 0x01021994;
const overlayfsType = 0x794c7630;

/** Checks that the slide folder can be read. */
export async function checkSlidesFolder({
  slidesDir,
  objectStore,
}: Pick<Config, 'slidesDir' | 'objectStore'>): Promise<Finding> {
  try {
    const entries = await withTimeout(timeoutMs, fs.readdir(slidesDir, { withFileTypes: true }));
    const folderCount = entries.filter((entry) => entry.isDirectory()).length;
    const fileCount = entries.length - folderCount;
    return ok('Slides', `${slidesDir}: ${folderCount} folders, each a dataset, and ${fileCount} files.`);
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

/** Checks that the data folder can be written, survives a restart, has enough space and is private. */
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
    await withTimeout(timeoutMs, writeTestFile(dataDir));
  } catch (error) {
    return [
      wrong(
        'Data folder',
        `DATA_DIR=${dataDir} cannot be written: ${reasonOf(error)}.`,
        'Give the folder to the user that runs Lamina, and check that its disk is not full or mounted read-only.',
      ),
    ];
  }
  const { type, bavail: freeBlocks, bsize: blockBytes } = await fs.statfs(dataDir);
  const maxCacheBytes = tileCacheBytes + (objectStore === null ? 0 : objectCacheBytes); // both caches are in the folder
  return [
    checkFileSystem(dataDir, type, databaseUrl === null),
    checkFreeSpace(freeBlocks * blockBytes, maxCacheBytes),
    ...(await checkPermissions(dataDir)),
  ];
}

/** Creates the folder as the server does, then writes and deletes a test file in it. @throws a file-system error */
async function writeTestFile(folder: string): Promise<void> {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, `.doctor-${randomUUID()}`);
  try {
    await fs.writeFile(file, 'Test file of npm run doctor.\n', { flush: true, mode: 0o600 });
  } finally {
    await fs.rm(file, { force: true });
  }
}

function checkFileSystem(dataDir: string, type: number, hasEmbeddedDatabase: boolean): Finding {
  const networkFileSystem = networkFileSystems.get(type >>> 0); // `>>> 0` makes a negative number unsigned
  if (networkFileSystem !== undefined && hasEmbeddedDatabase) {
    return wrong(
      'Data folder',
      `DATA_DIR=${dataDir} is on a network file system (${networkFileSystem}), where SQLite is not safe.`,
      'Keep DATA_DIR on a disk of this machine, or use PostgreSQL (DATABASE_URL).',
    );
  }
  if (type === tmpfsType) {
    return wrong(
      'Data folder',
      `DATA_DIR=${dataDir} is in memory: a restart of the machine deletes it.`,
      'Choose a folder on a disk.',
    );
  }
  if (type === overlayfsType) {
    return wrong(
      'Data folder',
      `DATA_DIR=${dataDir} is inside the container: it is deleted with the container.`,
      'Mount a volume there, as deploy/compose.yaml does.',
    );
  }
  const suffix = networkFileSystem === undefined ? '' : ` (${networkFileSystem})`;
  return ok('Data folder', `${dataDir} can be written${suffix}.`);
}

function checkFreeSpace(freeBytes: number, maxCacheBytes: number): Finding {
  const message = `${gibibytes(freeBytes)} are free; the caches may grow to ${gibibytes(maxCacheBytes)}.`;
  if (freeBytes < wrongBelowBytes)
    return wrong('Disk', message, 'Free some space now: the server cannot store anything on a full disk.');
  if (freeBytes < noteBelowBytes || freeBytes < maxCacheBytes) {
    return note('Disk', message, 'Free some space, or lower TILE_CACHE_BYTES (and S3_CACHE_BYTES).');
  }
  return ok('Disk', message);
}

async function checkPermissions(dataDir: string): Promise<Finding[]> {
  if (process.platform === 'win32') return [];
  const { mode } = await fs.stat(dataDir);
  const isClosedToOthers = (mode & 0o007) === 0; // the permissions of users other than owner and group
  if (isClosedToOthers) return [];
  return [
    note(
      'Data folder',
      'Every user of this machine can list DATA_DIR; its files are readable for their owner only.',
      `Restrict it: chmod 700 ${dataDir}`,
    ),
  ];
}
