/** Tests how much of the history a batch of annotation changes reads. */
import { randomUUID } from 'node:crypto';
import { AppError } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { lockLayer } from '../store/annotation-layers.ts';
import { createCharCounter } from '../store/testing/char-counter.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { testServer } from '../testing/test-server.ts';
import { applyChanges } from './apply-changes.ts';
import { toStorable } from './parse-feature.ts';

describe.each(databaseKinds)(
  'applyChanges (applies a batch of annotation changes; database: %s)',
  (database) => {
    it.each([1, null])(
      'throws conflict for a change with the base revision %s instead of 10, and does not read the content of earlier revisions',
      async (base) => {
        const server = await testServer({ database });
        const { uid: author } = await server.fixtures.user();
        const { id: layerId } = await server.fixtures.layer({ owner_uid: author });
        const id = randomUUID();
        const counter = createCharCounter();
        const apply = (description: string | null, baseRevision: number | null) =>
          server.services.db.transaction().execute(async (tx) => {
            const layer = await lockLayer(tx, layerId);
            if (layer === null) throw new AppError('not_found');
            const properties = { objectType: 'annotation', description: description ?? '' } as const;
            const geometry = { type: 'Point', coordinates: [1, 2] } as const;
            const feature = toStorable({ type: 'Feature', id, geometry, properties });
            const change = { id, feature: description === null ? null : feature, base: baseRevision };
            const context = { layer, author, now: server.clock.now().toISOString() };
            return applyChanges(tx.withPlugin(counter.plugin), context, [change]);
          });
        const longText = 'x'.repeat(9000);
        await apply(longText, null);
        for (let revision = 1; revision < 9; revision += 2) {
          await apply(null, revision); // deletes the annotation
          await apply(longText, null);
        }
        await apply('short', 9);
        counter.chars = 0;
        await expect(apply('other', base)).rejects.toMatchObject({ code: 'conflict' });
        expect(counter.chars).toBeLessThan(5000);
      },
    );
  },
);
