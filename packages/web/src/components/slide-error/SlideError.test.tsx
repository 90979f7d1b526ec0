import { render } from '@testing-library/react';
import { expect, it, onTestFinished } from 'vitest';
import { chooseLanguage } from '../../language/language.ts';
import { SlideError } from './SlideError.tsx';

const error = 'The file ends at 900000, before its directory at 1117452.';
const shown = (code?: string) => {
  const { container, unmount } = render(<SlideError error={error} code={code} languageInMix="tr" />);
  const text = container.textContent;
  unmount();
  return text;
};

it('the error of an unreadable slide is a Turkish sentence followed by the English details; in English only the server sentence', () => {
  onTestFinished(() => chooseLanguage('mixed'));
  const details = 'The file ends at 900000, before its directory at 1117452';
  expect(shown('FILE_TRUNCATED')).toBe(`Dosya eksik: sonu yok. Yeniden kopyalayın. (${details})`);
  expect(shown()).toBe(error);
  chooseLanguage('en');
  expect(shown('FILE_TRUNCATED')).toBe(error);
});
