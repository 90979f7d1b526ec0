/**
 * Imported before every schema: disables zod's code generation, which zod
 * otherwise tries at the first object schema and the content security policy blocks with a console error.
 */
import { z } from 'zod';

z.config({ jitless: true });
