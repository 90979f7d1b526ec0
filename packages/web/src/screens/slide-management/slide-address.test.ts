import { describe, expect, it } from 'vitest';
import { addressOfSlides, shownSlidesOf } from './slide-address.ts';

describe('the address of the list of slides', () => {
  it.each(['', 'q=%C4%B1%C5%9F%C4%B1k', 'dataset=', 'q=a&dataset=B%C3%B6brek&status=failed'])(
    'is the same after reading and writing "%s"',
    (text) => {
      expect(addressOfSlides(shownSlidesOf(new URLSearchParams(text))).toString()).toBe(text);
    },
  );
});
