import { describe, expect, it } from 'vitest';
import { readSlideFilters, writeSlideFilters } from './slide-address.ts';

describe('writeSlideFilters (writes the filters of the slide list into the URL)', () => {
  it.each(['', 'q=%C4%B1%C5%9F%C4%B1k', 'dataset=', 'q=a&dataset=B%C3%B6brek&status=failed'])(
    'returns the same query that readSlideFilters has read: "%s"',
    (text) => {
      expect(writeSlideFilters(readSlideFilters(new URLSearchParams(text))).toString()).toBe(text);
    },
  );
});
