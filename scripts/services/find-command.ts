import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the path of a command, looked up in PATH, /usr/bin and /usr/local/bin; undefined when it is not installed. */
export function findCommand(command: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  return folders.map((folder) => join(folder, command)).find((file) => existsSync(file));
}
