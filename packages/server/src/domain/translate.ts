import type { Bilingual } from '@lamina/contract';

/** Returns one of the two texts: the one in the language of the response. */
export type Translate = (text: Bilingual) => string;
