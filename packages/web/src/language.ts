/**
 * The language of the interface: the specification's mix of Turkish and English, or one of them throughout.
 *
 * Every text has both languages (`wording`, in the `texts.ts` files); which one it is said in is asked anew
 * each time it is read. So no text is kept outside a function: what was read once stays as it was.
 */
import type { Language } from '@lamina/contract';
import { useSyncExternalStore } from 'react';

/** `mixed`: each text in the language that the specification gives it. */
export type LanguageChoice = 'mixed' | Language;

interface OfferedLanguage {
  readonly choice: LanguageChoice;
  /** The same in every language, so that whoever cannot read the page finds theirs. */
  readonly name: string;
  readonly lang: Language;
}

export const offeredLanguages: readonly OfferedLanguage[] = [
  { choice: 'mixed', name: 'Türkçe + English', lang: 'tr' },
  { choice: 'tr', name: 'Türkçe', lang: 'tr' },
  { choice: 'en', name: 'English', lang: 'en' },
];

/** Said in both, to be found in either. */
export const languageChoiceLabel = 'Dil / Language';

const storageKey = 'language';
const listeners = new Set<() => void>();
let choice = storedChoice();

/** What nobody can have chosen counts as nothing. */
function storedChoice(): LanguageChoice {
  const stored = localStorage.getItem(storageKey);
  return stored === 'tr' || stored === 'en' ? stored : 'mixed';
}

function follow(next: LanguageChoice): void {
  if (next === choice) return;
  choice = next;
  for (const listener of listeners) listener();
}

// Another tab has chosen, or emptied the storage (key null).
window.addEventListener('storage', ({ key }) => {
  if (key === storageKey || key === null) follow(storedChoice());
});

export function chooseLanguage(next: LanguageChoice): void {
  if (next === 'mixed') localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, next);
  follow(next);
}

/** @returns a function that ends the subscription */
function onLanguageChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function chosenLanguage(): LanguageChoice {
  return choice;
}

export function useLanguage(): LanguageChoice {
  return useSyncExternalStore(onLanguageChange, chosenLanguage);
}

/**
 * The language that something is said in now; for `lang`, dates and numbers.
 *
 * @param mixed its language in the specification's mix
 */
export function languageNow(mixed: Language): Language {
  return choice === 'mixed' ? mixed : choice;
}

/** Told to the API. Without a choice nothing of the browser's own: the API then answers as the specification says. */
export function acceptLanguage(): string {
  return choice === 'mixed' ? '*' : choice;
}

interface Wording<Words extends object> {
  /** Language of the specification's mix. */
  readonly mixed: Language;
  /** Members that the mix has in the other language. */
  readonly otherwise?: readonly (keyof Words)[];
  readonly tr: Words;
  /** What is missing here does not compile. */
  readonly en: NoInfer<Words>;
}

/** Texts in both languages, read in the one of the moment. */
export function wording<Words extends object>(words: Wording<Words>): Readonly<Words> {
  const { mixed, otherwise = [] } = words;
  const other: Language = mixed === 'tr' ? 'en' : 'tr';
  const texts = {};
  for (const name of Object.keys(words.tr) as (keyof Words)[]) {
    const inMix = otherwise.includes(name) ? other : mixed;
    Object.defineProperty(texts, name, { enumerable: true, get: () => words[languageNow(inMix)][name] });
  }
  return texts as Readonly<Words>;
}
