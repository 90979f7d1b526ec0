/** Saves a blob as a download: for files that the page creates or has fetched with the bearer token, which a link cannot send. */
export function saveFile(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the blob asynchronously: within a minute it has begun to read even the largest file.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
