/** Hands a file to the browser's downloads: one made here, or one fetched with the bearer token, which no plain link carries. */
export function saveFile(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by then; a minute is plenty for the largest.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
