/** Saves a blob as a download. Used for files that the page creates, or that it loads itself because a link cannot send the bearer token. */
export function saveFile(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the blob asynchronously: within a minute it has begun to read even the largest file.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
