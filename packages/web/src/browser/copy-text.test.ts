import { afterEach, expect, it, vi } from 'vitest';
import { copyText } from './copy-text.ts';

afterEach(() => vi.unstubAllGlobals());

it('copyText writes its text to the clipboard of the browser', async () => {
  const writeText = vi.fn<(text: string) => Promise<void>>(async () => undefined);
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  expect(await copyText('a link')).toBe(true);
  expect(writeText).toHaveBeenCalledWith('a link');
});

it('copyText copies from a temporary text field on a page without TLS and removes the field', async () => {
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

it('copyText returns false when the browser refuses to copy', async () => {
  vi.stubGlobal('navigator', {});
  document.execCommand = () => false;
  expect(await copyText('a link')).toBe(false);
});
