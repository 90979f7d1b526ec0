/** Languages of the product, and texts in both languages. */
import { z } from 'zod';

export const Language = z.enum(['tr', 'en']);
export type Language = z.infer<typeof Language>;

/** One text in both languages. */
export type Bilingual = Readonly<Record<Language, string>>;
