import { z } from 'zod';

/** Health says a status and nothing else; it stands outside the API base. */
export const Health = z.object({ status: z.enum(['ok', 'unavailable']) }).meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;
