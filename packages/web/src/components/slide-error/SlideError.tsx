import type { Language } from '@lamina/contract';
import { chosenLanguageOr } from '../../language/language.ts';
import { slideErrors } from './texts.ts';

interface SlideErrorProps {
  /** The error message of the server, in English. */
  readonly error: string;
  /** The error code of `packages/slide`; undefined when the server has none. */
  readonly code: string | undefined;
  /** Language of the screen until the user chooses one. */
  readonly languageBeforeChoice: Language;
}

/** Explains why a slide file cannot be read. In Turkish, shows a sentence for the error code and the English details in brackets. */
export function SlideError({ error, code, languageBeforeChoice }: SlideErrorProps) {
  if (chosenLanguageOr(languageBeforeChoice) === 'en') return <span lang="en">{error}</span>;
  const sentence = code === undefined ? undefined : slideErrors[code];
  if (sentence === undefined) return <span lang="en">{error}</span>;
  return (
    <>
      {sentence} <span lang="en">({error.replace(/\.$/, '')})</span>
    </>
  );
}
