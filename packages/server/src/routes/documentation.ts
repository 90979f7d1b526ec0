import type { FastifyInstance } from 'fastify';

export async function documentationRoutes(_app: FastifyInstance): Promise<void> {}
