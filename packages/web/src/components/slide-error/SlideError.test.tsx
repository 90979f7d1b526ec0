import { render } from '@testing-library/react';
import { expect, it, onTestFinished } from 'vitest';
import { chooseLanguage } from '../../language/language.ts';
import { SlideError } from './SlideError.tsx';

const error = 'The file ends at 900000, before its directory at 1117452.';
const shown = (code?: string) => {
  const { container, unmount } = render(<SlideError error={error} code={code} languageWhenMixed="tr" />);
  const text = container.textContent;
  unmount();
  return text;
};

it('SlideError shows a Turkish sentence for the error code and the English message in brackets; in English, the message alone', () => {
  onTestFinished(() => chooseLanguage('mixed'));
  const details = 'The file ends at 900000, before its directory at 1117452';
  expect(shown('FILE_TRUNCATED')).toBe(`Dosya eksik: sonu yok. Yeniden kopyalayın. (${details})`);
  expect(shown()).toBe(error);
  chooseLanguage('en');
  expect(shown('FILE_TRUNCATED')).toBe(error);
});
