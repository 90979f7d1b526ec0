/** Whether scans and watchers skip a file or folder of this name. */
export function isHidden(name: string): boolean {
  return name.startsWith('.');
}
