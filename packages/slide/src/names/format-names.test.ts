import { expect, it } from 'vitest';
import { formatNames as formatsInOpenSlide } from '../open-slide.ts';
import { formatNames } from './format-names.ts';

it('formatNames declares the file names of every format in open-slide.ts', () => {
  expect(new Set(formatNames.map(({ format }) => format))).toEqual(new Set(formatsInOpenSlide));
});
