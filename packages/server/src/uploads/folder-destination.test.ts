import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFolderDestination } from './folder-destination.ts';

/** Creates a complete upload of a folder with two files. */
function createUpload() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-upload-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const pathOf = (name: string) => path.join(folder, name);
  fs.mkdirSync(pathOf('partial'));
  fs.writeFileSync(pathOf('partial/1'), 'one');
  fs.writeFileSync(pathOf('partial/2'), 'two');
  const upload = {
    assemblyFolder: pathOf('partial/folder'),
    targetPath: 'Set/Case',
    isFolder: true,
    files: [
      { receivedFile: pathOf('partial/1'), path: 'a.dcm', sizeBytes: 3 },
      { receivedFile: pathOf('partial/2'), path: 'x/b.dcm', sizeBytes: 3 },
    ],
    isRetry: false,
  };
  const destination = createFolderDestination(pathOf('slides'));
  const storedTexts = () =>
    ['a.dcm', 'x/b.dcm'].map((name) => fs.readFileSync(pathOf(`slides/Set/Case/${name}`), 'utf8'));
  return { pathOf, upload, destination, storedTexts };
}

describe('the upload step that moves received files to the slide folder (createFolderDestination)', () => {
  it('moves all files of a complete folder upload to the slide folder', async () => {
    const { pathOf, upload, destination, storedTexts } = createUpload();
    expect(await destination.store(upload)).toBe(true);
    expect(storedTexts()).toEqual(['one', 'two']);
    expect(fs.readdirSync(pathOf('partial'))).toEqual([]);
  });

  it('completes a move that an earlier process ended after the first of two files', async () => {
    const { pathOf, upload, destination, storedTexts } = createUpload();
    fs.mkdirSync(pathOf('partial/folder'));
    fs.renameSync(pathOf('partial/1'), pathOf('partial/folder/a.dcm'));
    expect(await destination.store(upload)).toBe(true);
    expect(storedTexts()).toEqual(['one', 'two']);
  });

  it('returns true for an upload that an earlier process has already moved completely', async () => {
    const { upload, destination, storedTexts } = createUpload();
    await destination.store(upload);
    expect(await destination.store(upload)).toBe(true);
    expect(storedTexts()).toEqual(['one', 'two']);
  });

  it('returns false and moves nothing when a file exists at the target path', async () => {
    const { pathOf, upload, destination } = createUpload();
    fs.mkdirSync(pathOf('slides/Set'), { recursive: true });
    fs.writeFileSync(pathOf('slides/Set/Case'), 'other');
    expect(await destination.store(upload)).toBe(false);
    expect(fs.readFileSync(pathOf('slides/Set/Case'), 'utf8')).toBe('other');
    fs.rmSync(pathOf('slides/Set/Case'));
    expect(await destination.store(upload)).toBe(true);
  });
});
