import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';

export async function webRoutes(_app: FastifyInstance, _services: Pick<Services, 'config'>): Promise<void> {}
