/** The bearer token goes in a header, so a file cannot be a plain link: it is fetched, and then handed over. */
export function saveFile(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by then; a minute is plenty for the largest.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
