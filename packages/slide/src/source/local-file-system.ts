import { statfs } from 'node:fs/promises';

/**
 * Magic numbers of Linux file systems on a disk of this machine or in its memory. A read from any other file system may block
 * forever, for example when a file server is unreachable.
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
  0x794c7630, // overlayfs, which containers use
]);

const isLocalByDevice = new Map<bigint, Promise<boolean>>();

/**
 * Whether a file lies on a disk or in the memory of this machine. The result is false when this is unknown, and always
 * false on systems other than Linux.
 *
 * @param device the file's device number from `stat`; the result is cached for each device
 */
export function isOnLocalDisk(path: string, device: bigint): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false);
  const isLocal = isLocalByDevice.get(device) ?? hasLocalFileSystem(path);
  isLocalByDevice.set(device, isLocal);
  return isLocal;
}

async function hasLocalFileSystem(path: string): Promise<boolean> {
  try {
    return LOCAL_TYPES.has((await statfs(path)).type);
  } catch {
    return false; // Unknown, for example because the file no longer exists; a later read reports the error.
  }
}
