import { expect, it } from 'vitest';
import { loadTurboJpeg } from '../decode/turbo-jpeg.ts';
import { installedLibraries } from './installed-libraries.ts';

it('installedLibraries returns the versions of libvips and OpenSlide, and whether libjpeg-turbo could be loaded', async () => {
  const turboJpeg = await loadTurboJpeg();
  const { libvips, turboJpeg: hasTurboJpeg, openSlide } = await installedLibraries();
  expect(libvips).toMatch(/^\d+\.\d+\.\d+/);
  expect(hasTurboJpeg).toBe(turboJpeg !== null);
  if (openSlide !== null) expect(openSlide).toMatch(/^\d+\.\d+/);
});
