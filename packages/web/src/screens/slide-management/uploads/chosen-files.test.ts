import { expect, it } from 'vitest';
import { filesOfDrop } from './chosen-files.ts';

const file = (name: string) => new File(['x'], name);

const fileEntry = (name: string) => ({
  name,
  isFile: true,
  file: (resolve: (file: File) => void) => resolve(file(name)),
});

/** Tells of what is in it by two at a time, as browsers do by a hundred. */
function folderEntry(name: string, children: readonly object[]) {
  return {
    name,
    isFile: false,
    createReader() {
      let told = 0;
      return {
        readEntries(resolve: (entries: readonly object[]) => void) {
          const some = children.slice(told, told + 2);
          told += some.length;
          resolve(some);
        },
      };
    },
  };
}

/** As the browser says what was dropped. */
function dropOf(...items: readonly { entry?: object; file?: File; kind?: string }[]): DataTransfer {
  const told = items.map(({ entry = null, file = null, kind = 'file' }) => ({
    kind,
    webkitGetAsEntry: () => entry,
    getAsFile: () => file,
  }));
  return { items: told } as unknown as DataTransfer;
}

it('all files of dropped folders are found, with their paths', async () => {
  const inner = folderEntry('levels', [fileEntry('1.dcm'), fileEntry('2.dcm'), fileEntry('3.dcm')]);
  const outer = folderEntry('Case 7', [fileEntry('label.dcm'), inner]);
  const found = await filesOfDrop(dropOf({ entry: outer }, { entry: fileEntry('a.svs') }));
  expect(found.map(({ path }) => path).sort()).toEqual([
    'Case 7/label.dcm',
    'Case 7/levels/1.dcm',
    'Case 7/levels/2.dcm',
    'Case 7/levels/3.dcm',
    'a.svs',
  ]);
});

it('a dropped file without a folder is found, and other dropped content is ignored', async () => {
  const found = await filesOfDrop(dropOf({ file: file('b.svs') }, { kind: 'string' }));
  expect(found.map(({ path }) => path)).toEqual(['b.svs']);
});

it('reports that a dropped file cannot be read', async () => {
  const unreadable = {
    name: 'a.svs',
    isFile: true,
    file: (_: unknown, reject: (error: Error) => void) => reject(new Error('NotFoundError')),
  };
  await expect(filesOfDrop(dropOf({ entry: unreadable }))).rejects.toThrow('NotFoundError');
});
