import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFolderDestination } from './place-in-folder.ts';

/** Two files of a folder that have come whole. */
function given() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-place-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const at = (name: string) => path.join(folder, name);
  fs.mkdirSync(at('partial'));
  fs.writeFileSync(at('partial/1'), 'one');
  fs.writeFileSync(at('partial/2'), 'two');
  const whole = {
    assembly: at('partial/folder'),
    place: 'Set/Case',
    isFolder: true,
    files: [
      { part: at('partial/1'), path: 'a.dcm', sizeBytes: 3 },
      { part: at('partial/2'), path: 'x/b.dcm', sizeBytes: 3 },
    ],
    isAgain: false,
  };
  const destination = createFolderDestination(at('slides'));
  const placed = () =>
    ['a.dcm', 'x/b.dcm'].map((name) => fs.readFileSync(at(`slides/Set/Case/${name}`), 'utf8'));
  return { at, whole, destination, placed };
}

describe('what has come whole', () => {
  it('is put where slides lie', async () => {
    const { at, whole, destination, placed } = given();
    expect(await destination.place(whole)).toBe(true);
    expect(placed()).toEqual(['one', 'two']);
    expect(fs.readdirSync(at('partial'))).toEqual([]);
  });

  it('is so, too, when the process ended while it was put together', async () => {
    const { at, whole, destination, placed } = given();
    fs.mkdirSync(at('partial/folder'));
    fs.renameSync(at('partial/1'), at('partial/folder/a.dcm'));
    expect(await destination.place(whole)).toBe(true);
    expect(placed()).toEqual(['one', 'two']);
  });

  it('is there already when the process ended right afterwards', async () => {
    const { whole, destination, placed } = given();
    await destination.place(whole);
    expect(await destination.place(whole)).toBe(true);
    expect(placed()).toEqual(['one', 'two']);
  });

  it('takes the place of nothing', async () => {
    const { at, whole, destination } = given();
    fs.mkdirSync(at('slides/Set'), { recursive: true });
    fs.writeFileSync(at('slides/Set/Case'), 'other');
    expect(await destination.place(whole)).toBe(false);
    expect(fs.readFileSync(at('slides/Set/Case'), 'utf8')).toBe('other');
    fs.rmSync(at('slides/Set/Case'));
    expect(await destination.place(whole)).toBe(true);
  });
});
