import { render } from '@testing-library/react';
import { expect, it, onTestFinished } from 'vitest';
import { chooseLanguage } from '../../language/language.ts';
import { SlideError } from './SlideError.tsx';

const error = 'The file ends at 900000, before its directory at 1117452.';
const renderedText = (code?: string) => {
  const { container, unmount } = render(<SlideError error={error} code={code} languageBeforeChoice="tr" />);
  const text = container.textContent;
  unmount();
  return text;
};

it('SlideError adds a Turkish sentence for a known error code to the English message, but not when the interface is English', () => {
  onTestFinished(() => chooseLanguage('mixed'));
  const details = 'The file ends at 900000, before its directory at 1117452';
  expect(renderedText('FILE_TRUNCATED')).toBe(
    `Dosya eksik: son bölümü yok. Yeniden kopyalayın. (${details})`,
  );
  expect(renderedText()).toBe(error);
  chooseLanguage('en');
  expect(renderedText('FILE_TRUNCATED')).toBe(error);
});
