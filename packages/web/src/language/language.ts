/**
 * The language of the interface: the specification's mix of Turkish and English, or one of them throughout.
 *
 * Every text has both languages (`wording`, in the `texts.ts` files); reading a text returns the current
 * language. Therefore texts must be read inside functions: a value read at module level would never change.
 */
import type { Language } from '@lamina/contract';
import { useSyncExternalStore } from 'react';

/** `mixed`: each text in the language that the specification gives it. */
export type LanguageChoice = 'mixed' | Language;

interface OfferedLanguage {
  readonly choice: LanguageChoice;
  /** The language's own name, the same in every language. */
  readonly name: string;
  /** The `lang` attribute of the name. */
  readonly htmlLang: Language;
}

export const offeredLanguages: readonly OfferedLanguage[] = [
  { choice: 'mixed', name: 'Türkçe + English', htmlLang: 'tr' },
  { choice: 'tr', name: 'Türkçe', htmlLang: 'tr' },
  { choice: 'en', name: 'English', htmlLang: 'en' },
];

/** The label in both languages. */
export const languageChoiceLabel = 'Dil / Language';

const storageKey = 'language';
const listeners = new Set<() => void>();
let choice = storedChoice();

/** An invalid stored value counts as no choice. */
function storedChoice(): LanguageChoice {
  const stored = localStorage.getItem(storageKey);
  return offeredLanguages.find((offered) => offered.choice === stored)?.choice ?? 'mixed';
}

function applyChoice(next: LanguageChoice): void {
  if (next === choice) return;
  choice = next;
  for (const listener of listeners) listener();
}

// Another tab has changed the language, or cleared the storage (key null).
window.addEventListener('storage', ({ key }) => {
  if (key === storageKey || key === null) applyChoice(storedChoice());
});

/** Called with each choice made in this tab; see `setLocalChoiceListener`. */
let choiceListener: ((choice: LanguageChoice) => void) | null = null;

/** Changes the language of this browser at once. */
export function chooseLanguage(next: LanguageChoice): void {
  if (next === 'mixed') localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, next);
  applyChoice(next);
  choiceListener?.(next);
}

/** Sets the one listener to choices made in this tab; null removes it. */
export function setLocalChoiceListener(listener: ((choice: LanguageChoice) => void) | null): void {
  choiceListener = listener;
}

/** @returns a function that unsubscribes */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function chosenLanguage(): LanguageChoice {
  return choice;
}

export function useLanguage(): LanguageChoice {
  return useSyncExternalStore(subscribe, chosenLanguage);
}

/**
 * Returns the current language of a text; for `lang`, dates and numbers.
 *
 * @param languageInMix its language in the specification's mix
 */
export function languageNow(languageInMix: Language): Language {
  return choice === 'mixed' ? languageInMix : choice;
}

/** The Accept-Language for the API. Without a choice it is `*`, not the browser's: the API then follows the specification. */
export function acceptLanguage(): string {
  return choice === 'mixed' ? '*' : choice;
}

interface Wording<Words extends object> {
  /** Language in the specification's mix. */
  readonly languageInMix: Language;
  /** Keys that have the other language in the mix. */
  readonly exceptions?: readonly (keyof Words)[];
  readonly tr: Words;
  /** A missing key does not compile. */
  readonly en: NoInfer<Words>;
}

/** Creates texts in both languages that are read in the current one. */
export function wording<Words extends object>(words: Wording<Words>): Readonly<Words> {
  const { languageInMix, exceptions = [] } = words;
  const other: Language = languageInMix === 'tr' ? 'en' : 'tr';
  const texts = {};
  for (const name of Object.keys(words.tr) as (keyof Words)[]) {
    const language = exceptions.includes(name) ? other : languageInMix;
    Object.defineProperty(texts, name, { enumerable: true, get: () => words[languageNow(language)][name] });
  }
  return texts as Readonly<Words>;
}

/** Creates texts for screens of either language in the specification's mix, by that language. */
export function wordingByScreenLanguage<Words extends object>(
  words: Pick<Wording<Words>, 'tr' | 'en'>,
): Readonly<Record<Language, Readonly<Words>>> {
  return { tr: wording({ languageInMix: 'tr', ...words }), en: wording({ languageInMix: 'en', ...words }) };
}
