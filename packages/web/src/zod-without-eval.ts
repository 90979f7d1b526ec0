/**
 * Imported before every schema: the content security policy forbids making code from text, which zod
 * otherwise tries as soon as the first object schema is declared, and the browser complains.
 */
import { z } from 'zod';

z.config({ jitless: true });
