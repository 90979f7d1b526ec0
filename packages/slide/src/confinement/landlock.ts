/**
 * Restricts a process to the files of a few folders with Landlock, a feature of the Linux kernel. The restriction is irrevocable and
 * also applies to every program that the process starts. Landlock always blocks access to other processes through /proc. Version 4
 * also blocks TCP. Version 6 also blocks signals to processes outside the restriction, and connections to their abstract Unix sockets.
 *
 * Source: landlock(7); Documentation/userspace-api/landlock.rst of Linux 6.12.
 */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { SystemCalls } from './system-calls.ts';

/** The files that a process may open. Symbolic links are followed when the rules are created. */
export interface FileRules {
  /** Readable files, and folders with everything below them. With null, every file is readable. */
  readonly readable: readonly string[] | null;
  /** Readable and executable files and folders: programs and the libraries that they load. */
  readonly executable: readonly string[];
  /** Folders in which the process has every right except to execute programs. */
  readonly writable: readonly string[];
}

/** Bits of the access rights. Source: include/uapi/linux/landlock.h. */
const right = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readFolder: 1 << 3,
  /** Nine rights, bits 4 to 12: to delete, and to create files of any kind, folders and links. */
  changeFolder: 0x1ff << 4,
  /** To rename a file, or link it, from one folder into another. */
  refer: 1 << 13,
  truncate: 1 << 14,
  deviceControl: 1 << 15,
} as const;
/** Rights that a rule for a file may grant; the others apply to folders only. */
const FILE_RIGHTS = right.execute | right.writeFile | right.readFile | right.truncate | right.deviceControl;
// Two bits each: the TCP rights that the process loses, and the scopes, which confine abstract sockets and signals to
// processes under the same restriction.
const TCP_BIND_AND_CONNECT = 3;
const ABSTRACT_SOCKETS_AND_SIGNALS = 3;

const CREATE_RULESET_VERSION = 1; // flag: return the Landlock version instead of creating a ruleset
const RULE_PATH_BENEATH = 1; // kind of a rule: for a file, or for a folder with everything below it
const PR_SET_NO_NEW_PRIVS = 38; // option of prctl(2): started programs gain no privileges, as Landlock requires
/** `O_PATH`: refers to a file without opening it, so no read permission is needed. */
const O_PATH = 0o10000000;

/** Returns the version of Landlock in the kernel (the "ABI version" of its documentation); 0 when the kernel lacks it. */
export function landlockVersion(calls: SystemCalls): number {
  return Math.max(0, calls.createRuleset(null, 0, CREATE_RULESET_VERSION));
}

/**
 * Restricts the calling thread, and every thread and program that it starts from now on. Threads that run already keep their rights.
 *
 * @throws Error when a system call fails, as it does in a kernel without Landlock
 */
export function restrictFiles(calls: SystemCalls, version: number, rules: FileRules): void {
  const { readable, executable, writable } = rules;
  // Newer versions of Landlock have more rights.
  const changeRights =
    right.writeFile |
    right.changeFolder |
    (version >= 2 ? right.refer : 0) |
    (version >= 3 ? right.truncate : 0) |
    (version >= 5 ? right.deviceControl : 0);
  const readRights = readable === null ? 0 : right.readFile | right.readFolder;
  /** The rights that the process loses, except where a rule below grants them. */
  const handledRights = changeRights | readRights | right.execute;
  const ruleset = createRuleset(calls, version, handledRights);
  for (const path of readable ?? []) addPath(calls, ruleset, path, readRights);
  for (const path of executable) addPath(calls, ruleset, path, readRights | right.execute);
  for (const path of writable) addPath(calls, ruleset, path, readRights | changeRights);
  // Node reads /dev/null in place of an OpenSSL configuration (start-confined.ts); programs also write to it.
  addPath(calls, ruleset, '/dev/null', (readRights | changeRights) & FILE_RIGHTS);
  requireSuccess(calls, 'prctl', calls.prctl(PR_SET_NO_NEW_PRIVS, 1));
  requireSuccess(calls, 'landlock_restrict_self', calls.restrictSelf(ruleset));
  closeSync(ruleset);
}

/** Creates a ruleset without rules; returns its file descriptor. @param handledRights the file rights to take away */
function createRuleset(calls: SystemCalls, version: number, handledRights: number): number {
  // struct landlock_ruleset_attr, little-endian (`true`): rights for files, rights for TCP, scopes.
  const attributes = new DataView(new ArrayBuffer(24));
  attributes.setBigUint64(0, BigInt(handledRights), true);
  attributes.setBigUint64(8, BigInt(version >= 4 ? TCP_BIND_AND_CONNECT : 0), true);
  attributes.setBigUint64(16, BigInt(version >= 6 ? ABSTRACT_SOCKETS_AND_SIGNALS : 0), true);
  // An older kernel knows fewer fields; all bytes of unknown fields must be 0.
  const bytes = new Uint8Array(attributes.buffer);
  return requireSuccess(calls, 'landlock_create_ruleset', calls.createRuleset(bytes, bytes.length, 0));
}

/** Adds a rule for a path. A path that cannot be opened gets no rule and stays inaccessible, even if it is created later. */
function addPath(calls: SystemCalls, ruleset: number, path: string, rights: number): void {
  let file: number;
  try {
    file = openSync(path, O_PATH | constants.O_RDONLY);
  } catch {
    return; // missing, or in a folder that this process cannot search
  }
  try {
    const allowed = fstatSync(file).isDirectory() ? rights : rights & FILE_RIGHTS;
    if (allowed === 0) return; // the kernel rejects a rule without rights
    // struct landlock_path_beneath_attr, little-endian: rights, file descriptor.
    const rule = new DataView(new ArrayBuffer(12));
    rule.setBigUint64(0, BigInt(allowed), true);
    rule.setInt32(8, file, true);
    requireSuccess(
      calls,
      'landlock_add_rule',
      calls.addRule(ruleset, RULE_PATH_BENEATH, new Uint8Array(rule.buffer)),
    );
  } finally {
    closeSync(file);
  }
}

/** Returns the result of a system call. @throws Error when the call failed */
function requireSuccess(calls: SystemCalls, name: string, result: number): number {
  if (result < 0) throw new Error(`${name} failed with error ${calls.errno()}`);
  return result;
}
