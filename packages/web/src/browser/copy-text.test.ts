import { afterEach, expect, it, vi } from 'vitest';
import { copyText } from './copy-text.ts';

afterEach(() => vi.unstubAllGlobals());

it('copyText uses the clipboard of the browser', async () => {
  const writeText = vi.fn<(text: string) => Promise<void>>(async () => undefined);
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  expect(await copyText('a link')).toBe(true);
  expect(writeText).toHaveBeenCalledWith('a link');
});

it('copyText copies a selected field on a page without TLS, and leaves nothing in the page', async () => {
  vi.stubGlobal('navigator', {});
  let selected = '';
  document.execCommand = () => {
    selected = document.querySelector('textarea')?.value ?? '';
    return true;
  };
  expect(await copyText('a link')).toBe(true);
  expect(selected).toBe('a link');
  expect(document.querySelector('textarea')).toBeNull();
});

it('copyText returns false when the browser refuses', async () => {
  vi.stubGlobal('navigator', {});
  document.execCommand = () => false;
  expect(await copyText('a link')).toBe(false);
});
