import { z } from 'zod';

/** A time in responses and requests, such as `2026-11-21T10:00:00.000Z`. */
export const Timestamp = z.iso.datetime().meta({ description: 'UTC, ISO 8601' });
