import { expect, it } from 'vitest';
import { formatNames as formatsInOpenSlide } from '../open-slide.ts';
import { formatNames } from './format-names.ts';

it('every format of open-slide.ts declares its file names', () => {
  expect(new Set(formatNames.map(({ format }) => format))).toEqual(new Set(formatsInOpenSlide));
});
