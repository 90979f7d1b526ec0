import { describe, expect, it } from 'vitest';
import { screenshotName } from './screenshot.ts';

describe('screenshotName (file name of a screenshot)', () => {
  it.each([
    ['Kolon kesiti 3.svs', '20×', 'Kolon kesiti 3.svs 20x.png'],
    ['../a/b:c?.svs', '≈ 2.5×', '..abc.svs 2.5x.png'],
    ['a,b.svs', '≈ 2,5×', 'ab.svs 2.5x.png'],
    ['İğne biyopsisi ş.ndpi', '40×', 'İğne biyopsisi ş.ndpi 40x.png'],
    ['', '', 'slide.png'],
  ])(
    'for the slide "%s" at the magnification "%s", returns the file name "%s"',
    (name, magnification, file) => {
      expect(screenshotName(name, magnification)).toBe(file);
    },
  );
});
