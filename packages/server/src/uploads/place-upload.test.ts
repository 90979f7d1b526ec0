import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { placeUpload } from './place-upload.ts';

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
    target: at('slides/Set/Case'),
    root: at('slides'),
    isFolder: true,
    files: [
      { part: at('partial/1'), path: 'a.dcm' },
      { part: at('partial/2'), path: 'x/b.dcm' },
    ],
  };
  const placed = () =>
    ['a.dcm', 'x/b.dcm'].map((name) => fs.readFileSync(at(`slides/Set/Case/${name}`), 'utf8'));
  return { at, whole, placed };
}

describe('what has come whole', () => {
  it('is put where slides lie', async () => {
    const { at, whole, placed } = given();
    expect(await placeUpload(whole)).toBe(true);
    expect(placed()).toEqual(['one', 'two']);
    expect(fs.readdirSync(at('partial'))).toEqual([]);
  });

  it('is so, too, when the process ended while it was put together', async () => {
    const { at, whole, placed } = given();
    fs.mkdirSync(at('partial/folder'));
    fs.renameSync(at('partial/1'), at('partial/folder/a.dcm'));
    expect(await placeUpload(whole)).toBe(true);
    expect(placed()).toEqual(['one', 'two']);
  });

  it('is there already when the process ended right afterwards', async () => {
    const { whole, placed } = given();
    await placeUpload(whole);
    expect(await placeUpload(whole)).toBe(true);
    expect(placed()).toEqual(['one', 'two']);
  });

  it('takes the place of nothing', async () => {
    const { at, whole } = given();
    fs.mkdirSync(at('slides/Set'), { recursive: true });
    fs.writeFileSync(at('slides/Set/Case'), 'other');
    expect(await placeUpload(whole)).toBe(false);
    expect(fs.readFileSync(at('slides/Set/Case'), 'utf8')).toBe('other');
    fs.rmSync(at('slides/Set/Case'));
    expect(await placeUpload(whole)).toBe(true);
  });
});
