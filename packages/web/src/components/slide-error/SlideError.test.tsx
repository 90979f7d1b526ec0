import { render } from '@testing-library/react';
import { expect, it, onTestFinished } from 'vitest';
import { chooseLanguage } from '../../language/language.ts';
import { SlideError } from './SlideError.tsx';

const error = 'The file ends at 900000, before its directory at 1117452.';
const renderedText = (code?: string) => {
  const { container, unmount } = render(<SlideError error={error} code={code} languageWhenMixed="tr" />);
  const text = container.textContent;
  unmount();
  return text;
};

it('SlideError shows a Turkish sentence for the error code with the English message in brackets, or in English only the message', () => {
  onTestFinished(() => chooseLanguage('mixed'));
  const details = 'The file ends at 900000, before its directory at 1117452';
  expect(renderedText('FILE_TRUNCATED')).toBe(`Dosya eksik: sonu yok. Yeniden kopyalayın. (${details})`);
  expect(renderedText()).toBe(error);
  chooseLanguage('en');
  expect(renderedText('FILE_TRUNCATED')).toBe(error);
});
