import { z } from 'zod';

export const Timestamp = z.iso.datetime().meta({ description: 'UTC, ISO 8601' });
