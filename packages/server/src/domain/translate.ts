import type { Bilingual } from '@lamina/contract';

/** Returns the Turkish or the English text, whichever is in the language of the response. */
export type Translate = (text: Bilingual) => string;
