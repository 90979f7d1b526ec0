/** The files that a user has chosen in a file dialog or dropped onto the upload panel, with their paths in the chosen folders. */

export interface ChosenFile {
  /** Path with forward slashes that begins with the name of the chosen or dropped folder; for a single file, its name. */
  readonly path: string;
  readonly file: File;
}

/** Returns the files of an `<input type="file">`, which chooses either files or a folder. */
export function filesOfInput(list: FileList): readonly ChosenFile[] {
  return [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/**
 * Returns all dropped files, including those inside dropped folders. Must be called during the drop event, because browsers empty the
 * list of dropped items when the event ends.
 *
 * @throws the DOMException of the browser when a file or folder cannot be read
 */
export async function filesOfDrop(transfer: DataTransfer): Promise<readonly ChosenFile[]> {
  const dropped = [...transfer.items]
    .filter(({ kind }) => kind === 'file')
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const filesPerItem = dropped.map(async ({ entry, file }): Promise<readonly ChosenFile[]> => {
    if (entry !== null) return filesOfEntry(entry, '');
    return file === null ? [] : [{ path: file.name, file }]; // a file from a program that is not a file manager has no entry
  });
  return (await Promise.all(filesPerItem)).flat();
}

/** Returns a file, or all files in a folder. @param parentPath empty, or a path that ends with a slash */
async function filesOfEntry(entry: FileSystemEntry, parentPath: string): Promise<readonly ChosenFile[]> {
  const path = parentPath + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      (entry as FileSystemFileEntry).file(resolve, reject);
    });
    return [{ path, file }];
  }
  const children = await childrenOf(entry as FileSystemDirectoryEntry);
  const filesPerChild = children.map((child) => filesOfEntry(child, `${path}/`));
  return (await Promise.all(filesPerChild)).flat();
}

/** Returns the entries of a folder. `readEntries` returns a batch per call (of at most 100 in Chromium), and an empty one at the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (batch.length === 0) return children;
    children.push(...batch);
  }
}
