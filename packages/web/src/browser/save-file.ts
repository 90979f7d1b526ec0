/** Saves a blob as a download. Used for files that need the bearer token, which a link cannot send, and for files that the page creates. */
export function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The URL must exist until the browser has begun to read the blob, which takes less than a minute even for the largest file.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
