import { describe, expect, it } from 'vitest';
import { readSlideFilters, writeSlideFilters } from './slide-address.ts';

describe('writeSlideFilters, for the URL of the slide list', () => {
  it.each(['', 'q=%C4%B1%C5%9F%C4%B1k', 'dataset=', 'q=a&dataset=B%C3%B6brek&status=failed'])(
    'restores the query "%s" from the filters that readSlideFilters has read from this query',
    (text) => {
      expect(writeSlideFilters(readSlideFilters(new URLSearchParams(text))).toString()).toBe(text);
    },
  );
});
