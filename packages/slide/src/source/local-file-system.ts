import { statfs } from 'node:fs/promises';

/**
 * Types of Linux file systems that are on a disk of this machine, or in its memory. Of all others a read may never
 * come back, as when the server of a network folder is gone.
 *
 * Source: statfs(2), and include/uapi/linux/magic.h of Linux 6.1.
 */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs, of containers
]);

const known = new Map<bigint, Promise<boolean>>();

/**
 * Whether a file lies on a disk of this machine; false where that cannot be told.
 *
 * @param device of the file, as `stat` says it: asked once for each
 */
export function isOnLocalDisk(path: string, device: bigint): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false);
  const answer = known.get(device) ?? askSystem(path);
  known.set(device, answer);
  return answer;
}

async function askSystem(path: string): Promise<boolean> {
  try {
    return LOCAL_TYPES.has((await statfs(path)).type);
  } catch {
    return false; // gone meanwhile; reading it will tell
  }
}
