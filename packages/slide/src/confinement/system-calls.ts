/**
 * The Linux system calls that restrict a process. They are called through the C library that Node is linked with.
 *
 * Source: prctl(2), setrlimit(2), execve(2), landlock(7); include/uapi/linux/landlock.h of Linux 6.12.
 */
import { loadKoffi } from '../decode/load-koffi.ts';
import { readOnce } from '../source/read-once.ts';

/** Each call returns -1 when it fails; `errno` then returns the reason. */
export interface SystemCalls {
  prctl(option: number, value: number): number;
  setResourceLimit(resource: number, bytes: number): number;
  /** Returns the file descriptor of a new Landlock ruleset or, with the flag 1, the version of Landlock. */
  createRuleset(attributes: Uint8Array | null, byteCount: number, flags: number): number;
  addRule(ruleset: number, kind: number, rule: Uint8Array): number;
  restrictSelf(ruleset: number): number;
  /** Keeps an open file open across `execute`. */
  keepOpen(file: number): number;
  /** Replaces this process by another program. Returns only on failure. */
  execute(program: string, commandLine: readonly string[], environment: readonly string[]): number;
  /** Error number of the last failed call. */
  errno(): number;
}

/** Numbers of the Landlock system calls, which are the same on all architectures. */
const call = { createRuleset: 444, addRule: 445, restrictSelf: 446 } as const;
/** Command of fcntl that sets the flags of a file descriptor; 0 clears close-on-exec. */
const F_SETFD = 2;

/** Loads the system calls. @returns null on systems other than Linux, and when the C library cannot be called */
export const loadSystemCalls = readOnce(async (): Promise<SystemCalls | null> => {
  if (process.platform !== 'linux') return null;
  try {
    const koffi = await loadKoffi();
    const library = koffi.load(null); // null: the libraries that this process has already loaded
    const prctl = library.func(
      'int prctl(int option, unsigned long value, unsigned long, unsigned long, unsigned long)',
    );
    const setrlimit = library.func('int setrlimit(int resource, const void *limit)');
    const createRuleset = library.func(
      'long syscall(long number, const void *attributes, size_t size, uint32_t flags)',
    );
    const addRule = library.func(
      'long syscall(long number, int ruleset, int kind, const void *rule, uint32_t flags)',
    );
    const restrictSelf = library.func('long syscall(long number, int ruleset, uint32_t flags)');
    const fcntl = library.func('int fcntl(int file, int command, int value)');
    const execve = library.func('int execve(const char *program, const char **args, const char **env)');
    return {
      prctl: (option, value) => prctl(option, value, 0, 0, 0) as number,
      setResourceLimit(resource, bytes) {
        const limit = BigUint64Array.of(BigInt(bytes), BigInt(bytes)); // soft and hard limit
        return setrlimit(resource, new Uint8Array(limit.buffer)) as number;
      },
      createRuleset: (attributes, byteCount, flags) =>
        Number(createRuleset(call.createRuleset, attributes, byteCount, flags)),
      addRule: (ruleset, kind, rule) => Number(addRule(call.addRule, ruleset, kind, rule, 0)),
      restrictSelf: (ruleset) => Number(restrictSelf(call.restrictSelf, ruleset, 0)),
      keepOpen: (file) => fcntl(file, F_SETFD, 0) as number,
      execute: (program, commandLine, environment) =>
        execve(program, [...commandLine, null], [...environment, null]) as number,
      errno: () => koffi.errno(),
    };
  } catch {
    return null;
  }
});
