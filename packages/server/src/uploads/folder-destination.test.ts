import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFolderDestination } from './folder-destination.ts';

/** Creates a complete upload of a folder with two files. */
function createUpload() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-upload-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const at = (name: string) => path.join(folder, name);
  fs.mkdirSync(at('partial'));
  fs.writeFileSync(at('partial/1'), 'one');
  fs.writeFileSync(at('partial/2'), 'two');
  const upload = {
    assembly: at('partial/folder'),
    targetPath: 'Set/Case',
    isFolder: true,
    files: [
      { part: at('partial/1'), path: 'a.dcm', sizeBytes: 3 },
      { part: at('partial/2'), path: 'x/b.dcm', sizeBytes: 3 },
    ],
    isRetry: false,
  };
  const destination = createFolderDestination(at('slides'));
  const storedTexts = () =>
    ['a.dcm', 'x/b.dcm'].map((name) => fs.readFileSync(at(`slides/Set/Case/${name}`), 'utf8'));
  return { at, upload, destination, storedTexts };
}

describe('store of an upload in the slide folder', () => {
  it('moves all files of a complete folder upload to the slide folder', async () => {
    const { at, upload, destination, storedTexts } = createUpload();
    expect(await destination.store(upload)).toBe(true);
    expect(storedTexts()).toEqual(['one', 'two']);
    expect(fs.readdirSync(at('partial'))).toEqual([]);
  });

  it('moves an upload that a previous process had assembled only in part', async () => {
    const { at, upload, destination, storedTexts } = createUpload();
    fs.mkdirSync(at('partial/folder'));
    fs.renameSync(at('partial/1'), at('partial/folder/a.dcm'));
    expect(await destination.store(upload)).toBe(true);
    expect(storedTexts()).toEqual(['one', 'two']);
  });

  it('returns true for an upload that a previous process has already moved completely', async () => {
    const { upload, destination, storedTexts } = createUpload();
    await destination.store(upload);
    expect(await destination.store(upload)).toBe(true);
    expect(storedTexts()).toEqual(['one', 'two']);
  });

  it('returns false, and moves nothing, when the target exists', async () => {
    const { at, upload, destination } = createUpload();
    fs.mkdirSync(at('slides/Set'), { recursive: true });
    fs.writeFileSync(at('slides/Set/Case'), 'other');
    expect(await destination.store(upload)).toBe(false);
    expect(fs.readFileSync(at('slides/Set/Case'), 'utf8')).toBe('other');
    fs.rmSync(at('slides/Set/Case'));
    expect(await destination.store(upload)).toBe(true);
  });
});
