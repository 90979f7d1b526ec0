import { describe, expect, it } from 'vitest';
import { filesOfDrop } from './chosen-files.ts';

const fileNamed = (name: string) => new File(['x'], name);

/** A file as the browser's File and Directory Entries API describes it. */
const fileEntry = (name: string) => ({
  name,
  isFile: true,
  file: (resolve: (file: File) => void) => resolve(fileNamed(name)),
});

/** A folder in the same API. Its reader returns two entries per call, where browsers return up to 100. */
function folderEntry(name: string, children: readonly object[]) {
  return {
    name,
    isFile: false,
    createReader() {
      let readCount = 0;
      return {
        readEntries(resolve: (entries: readonly object[]) => void) {
          const batch = children.slice(readCount, readCount + 2);
          readCount += batch.length;
          resolve(batch);
        },
      };
    },
  };
}

/** Returns the part of a `DataTransfer` that `filesOfDrop` uses. */
function dropOf(...items: readonly { entry?: object; file?: File; kind?: string }[]): DataTransfer {
  const transferItems = items.map(({ entry = null, file = null, kind = 'file' }) => ({
    kind,
    webkitGetAsEntry: () => entry,
    getAsFile: () => file,
  }));
  return { items: transferItems } as unknown as DataTransfer;
}

describe('filesOfDrop (files dropped onto the page)', () => {
  it('returns dropped files, and all files in dropped folders with their paths', async () => {
    const inner = folderEntry('levels', [fileEntry('1.dcm'), fileEntry('2.dcm'), fileEntry('3.dcm')]);
    const outer = folderEntry('Case 7', [fileEntry('label.dcm'), inner]);
    const files = await filesOfDrop(dropOf({ entry: outer }, { entry: fileEntry('a.svs') }));
    expect(files.map(({ path }) => path).sort()).toEqual([
      'Case 7/label.dcm',
      'Case 7/levels/1.dcm',
      'Case 7/levels/2.dcm',
      'Case 7/levels/3.dcm',
      'a.svs',
    ]);
  });

  it('returns a dropped file for which the browser has no file system entry (webkitGetAsEntry), and ignores dropped text', async () => {
    const files = await filesOfDrop(dropOf({ file: fileNamed('b.svs') }, { kind: 'string' }));
    expect(files.map(({ path }) => path)).toEqual(['b.svs']);
  });

  it('throws the error of the browser when a dropped file cannot be read', async () => {
    const unreadable = {
      name: 'a.svs',
      isFile: true,
      file: (_: unknown, reject: (error: Error) => void) => reject(new Error('NotFoundError')),
    };
    await expect(filesOfDrop(dropOf({ entry: unreadable }))).rejects.toThrow('NotFoundError');
  });
});
