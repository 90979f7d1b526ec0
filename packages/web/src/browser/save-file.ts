/** Saves a file as a download: created here, or fetched with the bearer token, which a plain link cannot send. */
export function saveFile(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has started to read it by then; a minute is enough for the largest file.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
