/**
 * The language of the interface. Until the user chooses Turkish or English, the interface is mixed: Turkish, but English in the WSI
 * Viewer, the dashboard layout and the pending banner (docs/requirements.md, ACC-10).
 *
 * Every text exists in both languages (see `wording`, used by all `texts.ts` files). Reading a text returns it in the
 * current language. Therefore texts must be read inside functions: a value read at module level would never change.
 */
import type { Language } from '@lamina/contract';
import { useSyncExternalStore } from 'react';

/** `mixed` is the default, and can be chosen again: each text is in the language that docs/requirements.md prescribes for it. */
export type LanguageChoice = 'mixed' | Language;

interface OfferedLanguage {
  readonly choice: LanguageChoice;
  /** The language's own name, the same in every language. */
  readonly name: string;
  /** The `lang` attribute of the element that shows the name. */
  readonly htmlLang: Language;
}

export const offeredLanguages: readonly OfferedLanguage[] = [
  { choice: 'mixed', name: 'Türkçe + English', htmlLang: 'tr' },
  { choice: 'tr', name: 'Türkçe', htmlLang: 'tr' },
  { choice: 'en', name: 'English', htmlLang: 'en' },
];

/** Label of the language selection, in both languages. */
export const bilingualLanguageLabel = 'Dil / Language';

const storageKey = 'language';
const listeners = new Set<() => void>();
let choice = storedChoice();

/** Returns the stored choice; 'mixed' when none or an invalid one is stored. */
function storedChoice(): LanguageChoice {
  const stored = localStorage.getItem(storageKey);
  return offeredLanguages.find((offered) => offered.choice === stored)?.choice ?? 'mixed';
}

function applyChoice(newChoice: LanguageChoice): void {
  if (newChoice === choice) return;
  choice = newChoice;
  for (const listener of listeners) listener();
}

/**
 * Adopts the language that another tab has stored. Called only when the user opens another screen, because a change of the language
 * remounts the screen, which discards typed text.
 */
export function adoptStoredLanguage(): void {
  applyChoice(storedChoice());
}

/** Called with each choice made in this tab, but not with choices in other tabs. */
let localChoiceListener: ((choice: LanguageChoice) => void) | null = null;

/** Changes the language of the interface immediately and stores it in this browser. */
export function chooseLanguage(newChoice: LanguageChoice): void {
  if (newChoice === 'mixed') localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, newChoice);
  applyChoice(newChoice);
  localChoiceListener?.(newChoice);
}

/** Sets the only listener to choices made in this tab; null removes the listener. */
export function setLocalChoiceListener(listener: ((choice: LanguageChoice) => void) | null): void {
  localChoiceListener = listener;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the current choice; 'mixed' until the user chooses a language. */
export function chosenLanguage(): LanguageChoice {
  return choice;
}

/** Returns the current choice and renders the component again when the choice changes. */
export function useLanguage(): LanguageChoice {
  return useSyncExternalStore(subscribe, chosenLanguage);
}

/**
 * Returns the language in which a text is currently shown; used for `lang` attributes, dates and numbers.
 *
 * @param languageBeforeChoice language of the text until the user chooses one (the choice is 'mixed')
 */
export function chosenLanguageOr(languageBeforeChoice: Language): Language {
  return choice === 'mixed' ? languageBeforeChoice : choice;
}

/**
 * Returns the `Accept-Language` header for the API. For 'mixed' it is `*`: the API then responds in the language that
 * docs/requirements.md prescribes for each endpoint.
 *
 * @param languageBeforeChoice language that replaces `*`, for an endpoint that both Turkish and English screens call
 */
export function acceptLanguage(languageBeforeChoice?: Language): string {
  return choice === 'mixed' ? (languageBeforeChoice ?? '*') : choice;
}

interface Wording<Words extends object> {
  /** Language of the texts when the choice is 'mixed'. */
  readonly languageBeforeChoice: Language;
  /** Keys of the texts that are shown in the other language when the choice is 'mixed'. */
  readonly exceptions?: readonly (keyof Words)[];
  readonly tr: Words;
  /** `NoInfer` makes a missing key a type error. */
  readonly en: NoInfer<Words>;
}

/** Returns an object with a getter for each text; the getter returns the text in the current language. */
export function wording<Words extends object>(words: Wording<Words>): Readonly<Words> {
  const { languageBeforeChoice, exceptions = [] } = words;
  const otherLanguage: Language = languageBeforeChoice === 'tr' ? 'en' : 'tr';
  const texts = {};
  for (const name of Object.keys(words.tr) as (keyof Words)[]) {
    const language = exceptions.includes(name) ? otherLanguage : languageBeforeChoice;
    Object.defineProperty(texts, name, {
      enumerable: true,
      get: () => words[chosenLanguageOr(language)][name],
    });
  }
  return texts as Readonly<Words>;
}

/**
 * Creates texts for a component that several screens use, in two variants: `tr` for screens that are Turkish when the
 * choice is 'mixed', `en` for the others. For any other choice, both variants return texts in the chosen language.
 */
export function wordingByScreenLanguage<Words extends object>(
  words: Pick<Wording<Words>, 'tr' | 'en'>,
): Readonly<Record<Language, Readonly<Words>>> {
  return {
    tr: wording({ languageBeforeChoice: 'tr', ...words }),
    en: wording({ languageBeforeChoice: 'en', ...words }),
  };
}
