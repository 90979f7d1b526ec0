import { z } from 'zod';

/** A coordinate in pixels of full resolution, or an entry of a transform of such coordinates. The bounds keep results of computations finite. */
export const Coordinate = z.number().min(-1e9).max(1e9);
