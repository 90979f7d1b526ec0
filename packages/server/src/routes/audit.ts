/** The audit trail, for administrators. */
import { checkAuditChain, exportAudit, getAuditChain, listAudit } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';

const fileName = { tr: 'denetim-kaydi', en: 'audit-trail' };

export function auditRoutes(
  app: FastifyInstance,
  { auditTrail, now }: Pick<Services, 'auditTrail' | 'now'>,
): void {
  serve(app, listAudit, ({ query }) => auditTrail.list(query));

  serve(app, exportAudit, async ({ query, caller, origin, language }) => ({
    stream: await auditTrail.exportCsv(query, { uid: caller.user.uid, origin }, language),
    type: 'text/csv; charset=utf-8; header=present',
    fileName: `${fileName[language]}-${now().toISOString().slice(0, 10)}.csv`,
  }));

  serve(app, getAuditChain, () => auditTrail.chain());

  serve(app, checkAuditChain, () => auditTrail.checkChain());
}
