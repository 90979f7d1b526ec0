/** Routes by which administrators read, export and verify the audit log. */
import { checkAuditChain, exportAudit, getAuditChain, listAudit } from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';

/** Start of the name of the CSV file, before the date. */
const fileNameStart = { tr: 'denetim-kaydi', en: 'audit-log' };

export function auditRoutes(
  app: FastifyInstance,
  { auditLog, now }: Pick<Services, 'auditLog' | 'now'>,
): void {
  serve(app, listAudit, ({ query }) => auditLog.list(query));

  serve(app, exportAudit, async ({ query, caller, origin, language }) => ({
    stream: await auditLog.exportCsv(query, { uid: caller.user.uid, origin }, language),
    type: 'text/csv; charset=utf-8; header=present',
    fileName: `${fileNameStart[language]}-${now().toISOString().slice(0, 10)}.csv`,
  }));

  // Both routes return the last result of verifying the hash chain. `checkAuditChain` also starts another verification, unless one is
  // running; `getAuditChain` does this only if the last result is older than ten minutes.
  serve(app, getAuditChain, () => auditLog.chain());

  serve(app, checkAuditChain, () => auditLog.checkChain());
}
