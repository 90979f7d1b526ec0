import { z } from 'zod';

/** Response of the health routes, which contain only a status. They are not below the API base. */
export const Health = z.object({ status: z.enum(['ok', 'unavailable']) }).meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;
