import { expect, it } from 'vitest';
import { formatReaderNames as formatsInOpenSlide } from '../open-slide.ts';
import { formatNames } from './format-names.ts';

it('the list of file name patterns (formatNames) has an entry for every slide format that openSlide supports', () => {
  expect(new Set(formatNames.map(({ format }) => format))).toEqual(new Set(formatsInOpenSlide));
});
