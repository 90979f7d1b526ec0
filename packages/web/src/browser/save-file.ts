/** Saves a blob as a download, for files that the page creates, or loads itself because a link cannot send the bearer token. */
export function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the blob asynchronously, but starts within a minute even for the largest file.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
