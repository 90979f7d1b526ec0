import type { Language } from '@lamina/contract';
import { languageNow } from '../../language/language.ts';
import { slideErrors } from './texts.ts';

interface SlideErrorProps {
  /** The server's sentence, in English. */
  readonly error: string;
  readonly code: string | undefined;
  /** Language of the screen while no language is chosen. */
  readonly mixed: Language;
}

/** Why a slide file cannot be read. In Turkish, the sentence for the code, and the details in English after it. */
export function SlideError({ error, code, mixed }: SlideErrorProps) {
  if (languageNow(mixed) === 'en') return <span lang="en">{error}</span>;
  const sentence = code === undefined ? undefined : slideErrors[code];
  if (sentence === undefined) return <span lang="en">{error}</span>;
  return (
    <>
      {sentence} <span lang="en">({error.replace(/\.$/, '')})</span>
    </>
  );
}
