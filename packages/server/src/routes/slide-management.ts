/** Routes with which administrators manage the catalogue: list, change, export and import entries. */
import {
  applyCatalogueImport,
  type Bilingual,
  type BodyOf,
  changeImages,
  checkCatalogueImport,
  countManagedImages,
  exportCatalogue,
  listManagedImages,
} from '@lamina/contract';
import type { FastifyInstance } from 'fastify';
import { serve } from '../http/serve.ts';
import type { Services } from '../services.ts';
import { actorOf } from './actor.ts';

/** Start of the name of the CSV file, before the date. */
const fileNameStart = { tr: 'katalog', en: 'catalogue' };

export function slideManagementRoutes(
  app: FastifyInstance,
  { slideManagement, catalogueImport, now }: Pick<Services, 'slideManagement' | 'catalogueImport' | 'now'>,
): void {
  serve(app, listManagedImages, ({ query }) => slideManagement.list(query));

  serve(app, countManagedImages, async ({ query }) => ({ counts: await slideManagement.counts(query) }));

  serve(app, changeImages, async (request) => {
    const changed = await slideManagement.change(request.body, actorOf(request));
    return { changed, message: request.translate(resultSentence(request.body, changed)) };
  });

  serve(app, exportCatalogue, async (request) => ({
    stream: await slideManagement.exportCsv(actorOf(request)),
    type: 'text/csv; charset=utf-8; header=present',
    fileName: `${fileNameStart[request.language]}-${now().toISOString().slice(0, 10)}.csv`,
  }));

  serve(app, checkCatalogueImport, ({ file, language }) => catalogueImport.check(file, language));

  serve(app, applyCatalogueImport, async (request) => {
    // `plan` is the id of the changes in the response to `checkCatalogueImport`; the import fails if it would now make other changes.
    const changed = await catalogueImport.apply(request.file, request.query.plan, actorOf(request));
    return {
      changed,
      message: request.translate({
        tr: `Katalog dosyası uygulandı: ${changed} slayt değişti.`,
        en: `The catalogue file has been applied: ${slideCount(changed)} changed.`,
      }),
    };
  });
}

function slideCount(count: number): string {
  return count === 1 ? '1 slide' : `${count} slides`;
}

/**
 * Returns the message after a change to many slides. Removing, restoring, hiding, showing and reading the files again have a sentence
 * each; all other changes share one.
 *
 * @param count number of changed slides
 */
function resultSentence(edit: BodyOf<typeof changeImages>, count: number): Bilingual {
  if (count === 0) return { tr: 'Değişen bir şey yok.', en: 'There was nothing to change.' };
  if (edit.removed === true) {
    return {
      tr: `${count} slayt katalogdan kaldırıldı.`,
      en: `${slideCount(count)} removed from the catalogue.`,
    };
  }
  if (edit.removed === false) {
    return {
      tr: `${count} slayt kataloğa geri alındı.`,
      en: `${slideCount(count)} put back into the catalogue.`,
    };
  }
  if (edit.hidden === true) {
    return { tr: `${count} slayt üyelerden gizlendi.`, en: `${slideCount(count)} hidden from members.` };
  }
  if (edit.hidden === false) {
    return { tr: `${count} slayt yeniden gösteriliyor.`, en: `${slideCount(count)} shown again.` };
  }
  if (edit.read_again) {
    return { tr: `${count} slayt yeniden okunuyor.`, en: `Reading ${slideCount(count)} again.` };
  }
  return { tr: `${count} slayt değiştirildi.`, en: `${slideCount(count)} changed.` };
}
