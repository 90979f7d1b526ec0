import { z } from 'zod';

/** Response of the health routes, with only a status. The routes are not below the API base. */
export const Health = z.object({ status: z.enum(['ok', 'unavailable']) }).meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;
