/** Files as people choose or drop them, with the folders they come in. */

export interface ChosenFile {
  /** With forward slashes, from the folder that was chosen or dropped; of a single file its name. */
  readonly path: string;
  readonly file: File;
}

export function filesOfInput(list: FileList): readonly ChosenFile[] {
  return [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** What was dropped has to be asked for before the event has ended; what lies in folders is read afterwards. */
export async function filesOfDrop(transfer: DataTransfer): Promise<readonly ChosenFile[]> {
  const dropped = [...transfer.items]
    .filter(({ kind }) => kind === 'file')
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const found = dropped.map(async ({ entry, file }): Promise<readonly ChosenFile[]> => {
    if (entry !== null) return filesBelow(entry, '');
    return file === null ? [] : [{ path: file.name, file }]; // from another program than a file manager
  });
  return (await Promise.all(found)).flat();
}

async function filesBelow(entry: FileSystemEntry, folder: string): Promise<readonly ChosenFile[]> {
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      (entry as FileSystemFileEntry).file(resolve, reject);
    });
    return [{ path, file }];
  }
  const found = (await childrenOf(entry as FileSystemDirectoryEntry)).map((child) =>
    filesBelow(child, `${path}/`),
  );
  return (await Promise.all(found)).flat();
}

/** Browsers tell a hundred at a time. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (some.length === 0) return all;
    all.push(...some);
  }
}
