/** Whether scans and watchers of the slide folder skip a file or folder because its name starts with a dot. */
export function isHidden(name: string): boolean {
  return name.startsWith('.');
}
