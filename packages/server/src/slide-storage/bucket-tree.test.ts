import { type ListedObject, SlideError } from '@lamina/slide';
import { describe, expect, it } from 'vitest';
import { readBucketTree } from './bucket-tree.ts';

type Store = Parameters<typeof readBucketTree>[0]['store'];

/** Returns an object store with these objects (text by key). It lists them as S3 does: sorted by the bytes of the keys. */
function storeOf(objects: Readonly<Record<string, string>>): Store {
  const listed = Object.entries(objects).map(([key, text]): ListedObject => {
    return { key, size: text.length, etag: `etag of ${text}`, lastModified: '2026-05-01T00:00:00.000Z' };
  });
  listed.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  return {
    async *list() {
      yield* listed;
    },
    async read({ key }, offset, length) {
      const text = objects[key];
      if (text === undefined) throw new SlideError('FILE_MISSING', 'no such object');
      return Buffer.from(text).subarray(offset, offset + length);
    },
  };
}

const treeOf = (objects: Readonly<Record<string, string>>) =>
  readBucketTree({
    store: storeOf(objects),
    groupFiles: async () => [],
    signal: new AbortController().signal,
  });

describe('readBucketTree (lists a bucket as a tree of folders and files)', () => {
  it('returns a folder for each part of an object key before a slash', async () => {
    const tree = await treeOf({ 'a.svs': '', 'Set/b.svs': '', 'Set/deep/er/c.svs': '' });
    expect(await tree.entriesOf('')).toEqual([
      { name: 'Set', kind: 'folder' },
      { name: 'a.svs', kind: 'file' },
    ]);
    expect(await tree.entriesOf('Set/deep')).toEqual([{ name: 'er', kind: 'folder' }]);
    expect(await tree.entriesOf('Set/none')).toBeNull();
  });

  it.each(['Set//a.svs', '/a.svs', '../a.svs', 'Set/../a.svs', './a.svs', 'Set/', '/', '..'])(
    'ignores the object key %j, which is not a valid file path',
    async (key) => {
      const tree = await treeOf({ [key]: '12' });
      // Visits all folders (the loop also visits places that are added to it) and expects that none contains a file.
      const places = [''];
      for (const place of places) {
        for (const { name, kind } of (await tree.entriesOf(place)) ?? []) {
          expect(kind).toBe('folder');
          places.push(place === '' ? name : `${place}/${name}`);
        }
      }
    },
  );

  it('lists a path as a file when it is both an object and a folder of other objects', async () => {
    const tree = await treeOf({ 'a.svs': '', 'a.svs/b.svs': '' });
    expect(await tree.entriesOf('')).toEqual([{ name: 'a.svs', kind: 'file' }]);
  });

  it('returns a tree whose method allBelow returns the total size and the versions of all objects below a folder', async () => {
    const tree = await treeOf({ 'a-b': '1', 'a/x/y': '22', 'a/': '', 'a/é': '4444', 'a/z': '333', a0: '5' });
    expect(await tree.allBelow('a')).toEqual({
      sizeBytes: 9, // 0 + 2 + 3 + 4
      versions: ['object etag of  0', 'object etag of 22 2', 'object etag of 333 3', 'object etag of 4444 4'],
    });
    expect(await tree.allBelow('b')).toBeNull();
  });

  it('returns a tree whose method read returns fewer bytes than requested at the end of an object', async () => {
    const tree = await treeOf({ 'Set/a': '0123456789' });
    const read = async (place: string, offset: number, length: number) => {
      const bytes = await tree.read(place, offset, length);
      return bytes && Buffer.from(bytes).toString();
    };
    expect(await read('Set/a', 2, 3)).toBe('234');
    expect(await read('Set/a', 8, 30)).toBe('89');
    expect(await read('Set/a', 80, 3)).toBe('');
    expect(await read('Set/b', 0, 1)).toBeNull();
  });

  it('returns a tree whose method read returns null for an object that was deleted after the listing', async () => {
    const store = storeOf({ a: '123' });
    const readMissing = async () => {
      throw new SlideError('FILE_MISSING', 'no such object');
    };
    const { signal } = new AbortController();
    const tree = await readBucketTree({
      store: { ...store, read: readMissing },
      groupFiles: async () => [],
      signal,
    });
    expect(await tree.read('a', 0, 1)).toBeNull();
  });
});
