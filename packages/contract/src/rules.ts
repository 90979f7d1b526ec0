/**
 * What the rules of a request say when they are broken. A schema has one sentence for each, which stands for
 * the same in either language.
 */
import type { InBothLanguages, Language } from './errors.ts';

const rules = new Map<string, InBothLanguages>();

/** @returns the sentence for the schema: the one in the language of its calls */
export function rule(language: Language, tr: string, en: string): string {
  const sentences = { tr, en };
  rules.set(sentences[language], sentences);
  return sentences[language];
}

/** @param sentence of a schema; one that no rule of ours has made stays as it is */
export function ruleIn(language: Language, sentence: string): string {
  return rules.get(sentence)?.[language] ?? sentence;
}
