/**
 * Disables the code generation of zod, which the content security policy would block with a console error. Must be imported before any
 * schema is created, because zod reads the option when it creates a schema.
 */
import { z } from 'zod';

z.config({ jitless: true });
