/**
 * Disables the code generation of zod, which the content security policy would block with a console error. Must be imported before any
 * schema is created.
 */
import { z } from 'zod';

z.config({ jitless: true });
